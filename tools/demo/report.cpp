#include "report.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace demo {
namespace {

double ratio(std::uint64_t a, std::uint64_t b) { return b ? static_cast<double>(a) / static_cast<double>(b) : 0; }
double us(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }
unsigned long long big(std::uint64_t n) { return n; }

class file {
public:
    explicit file(std::string const& path) : path_(path), f_(std::fopen(path.c_str(), "w")) {
        if (!f_)
            std::fprintf(stderr, "fairlead-demo: %s: %s\n", path.c_str(), std::strerror(errno));
    }
    file(file const&) = delete;
    file& operator=(file const&) = delete;
    ~file() {
        if (f_)
            std::fclose(f_);
    }
    FILE* get() const { return f_; }
    bool close() {
        if (!f_)
            return false;
        bool const ok = std::ferror(f_) == 0 && std::fclose(f_) == 0;
        f_ = nullptr;
        if (!ok)
            std::fprintf(stderr, "fairlead-demo: %s: could not be written\n", path_.c_str());
        return ok;
    }

private:
    std::string path_;
    FILE* f_;
};

std::string escaped(std::string const& s) {
    std::string out;
    for (char c : s) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

} // namespace

void print_table(figures const& f) {
    std::printf("%-38s %llu\n", "callers on one connection", big(f.callers));
    std::printf("%-38s %llu in %.2f s\n", "commands", big(f.commands), f.seconds);
    std::printf("%-38s %.0f\n", "commands per second", f.seconds > 0 ? static_cast<double>(f.commands) / f.seconds : 0);
    std::printf("%-38s %.0f / %.0f / %.0f / %.0f us\n", "latency p50 / p99 / p99.9 / max", us(f.latency.quantile(0.5)),
                us(f.latency.quantile(0.99)), us(f.latency.quantile(0.999)), us(f.latency.max()));
    std::printf("%-38s %.1f\n", "requests per write", ratio(f.requests_written, f.writes));
    std::printf("%-38s %.3f\n", "system calls per command *", ratio(f.system_calls, f.measured_commands));
    std::printf("%-38s %.4f (%llu in %llu commands)\n", "allocations per command *",
                ratio(f.allocations, f.measured_commands), big(f.allocations), big(f.measured_commands));
    std::printf("%-38s budget %llu, slice over %llu, other thread %llu\n", "yields by cause", big(f.yields_budget),
                big(f.yields_deadline), big(f.yields_remote));
    std::printf("%-38s %llu / %llu, %llu out of order\n", "pushes sent / received", big(f.pushes_sent),
                big(f.pushes_received), big(f.pushes_out_of_order));
    std::printf("%-38s %llu\n", "wrong replies", big(f.wrong_replies));
    std::printf("* after warm-up, the first tenth of the commands; of the client's thread, publisher included\n");
}

bool write_json(figures const& f, std::string const& path) {
    file out(path);
    if (!out.get())
        return false;
    std::fprintf(out.get(),
                 "{\n  \"server\": \"%s\",\n  \"callers\": %llu,\n  \"commands\": %llu,\n  \"seconds\": %.6f,\n"
                 "  \"commands_per_second\": %.1f,\n  \"latency_us\": {\"p50\": %.3f, \"p99\": %.3f, \"p99_9\": %.3f, "
                 "\"max\": %.3f},\n  \"requests_per_write\": %.3f,\n  \"system_calls_per_command\": %.6f,\n"
                 "  \"allocations_per_command\": %.6f,\n  \"yields\": {\"budget\": %llu, \"deadline\": %llu, "
                 "\"remote\": %llu},\n  \"pushes_sent\": %llu,\n  \"pushes_received\": %llu,\n"
                 "  \"pushes_out_of_order\": %llu,\n  \"wrong_replies\": %llu,\n  \"failure\": \"%s\"\n}\n",
                 escaped(f.server).c_str(), big(f.callers), big(f.commands), f.seconds,
                 f.seconds > 0 ? static_cast<double>(f.commands) / f.seconds : 0, us(f.latency.quantile(0.5)),
                 us(f.latency.quantile(0.99)), us(f.latency.quantile(0.999)), us(f.latency.max()),
                 ratio(f.requests_written, f.writes), ratio(f.system_calls, f.measured_commands),
                 ratio(f.allocations, f.measured_commands), big(f.yields_budget), big(f.yields_deadline),
                 big(f.yields_remote), big(f.pushes_sent), big(f.pushes_received), big(f.pushes_out_of_order),
                 big(f.wrong_replies), escaped(f.failure).c_str());
    return out.close();
}

bool write_plot(figures const& f, std::string const& path) {
    file out(path);
    if (!out.get())
        return false;
    // Latency over the share of commands that took longer, both logarithmic: the tail is what one looks for.
    constexpr double left = 70, right = 690, top = 40, bottom = 360;
    std::vector<std::pair<double, double>> points; // nines, microseconds
    std::uint64_t seen = 0;
    f.latency.for_each([&](std::uint64_t edge, std::uint64_t n) {
        seen += n;
        double const rest = ratio(f.latency.count() - seen, f.latency.count());
        double const nines = rest > 0 ? -std::log10(rest) : std::log10(static_cast<double>(f.latency.count()));
        points.emplace_back(nines, us(edge));
    });
    if (points.empty())
        points.emplace_back(0.0, 1.0);
    double const x_most = std::max(1.0, points.back().first);
    double const y_least = std::floor(std::log10(std::max(points.front().second, 0.001)));
    double const y_most = std::max(y_least + 1, std::ceil(std::log10(std::max(points.back().second, 0.001))));
    auto x = [&](double nines) { return left + (right - left) * nines / x_most; };
    auto y = [&](double micros) {
        return bottom - (bottom - top) * (std::log10(std::max(micros, 0.001)) - y_least) / (y_most - y_least);
    };
    FILE* o = out.get();
    std::fprintf(o, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 750 400\" font-family=\"sans-serif\" "
                    "font-size=\"12\">\n<rect width=\"750\" height=\"400\" fill=\"white\"/>\n");
    std::fprintf(o, "<text x=\"%g\" y=\"20\">Latency of %llu commands, %llu callers on one connection, %s</text>\n",
                 left, big(f.commands), big(f.callers), escaped(f.server).c_str());
    for (int d = static_cast<int>(y_least); d <= static_cast<int>(y_most); ++d) {
        double const at = y(std::pow(10.0, d));
        std::fprintf(o,
                     "<line x1=\"%g\" x2=\"%g\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
                     "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%g us</text>\n",
                     left, right, at, at, left - 6, at + 4, std::pow(10.0, d));
    }
    constexpr char const* shares[] = {"0", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %", "99.99999 %"};
    for (int n = 0; n <= static_cast<int>(x_most) && n < 8; ++n)
        std::fprintf(o,
                     "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%g\" y2=\"%g\" stroke=\"#ddd\"/>"
                     "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n",
                     x(n), x(n), top, bottom, x(n), bottom + 18, shares[n]);
    std::fprintf(o, "<polyline fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\" points=\"");
    for (auto const& [nines, micros] : points)
        std::fprintf(o, "%.1f,%.1f ", x(nines), y(micros));
    std::fprintf(o,
                 "\"/>\n<text x=\"%g\" y=\"395\" text-anchor=\"middle\">share of commands that were at least as fast"
                 "</text>\n</svg>\n",
                 (left + right) / 2);
    return out.close();
}

} // namespace demo
