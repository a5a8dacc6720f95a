#include <fairlead/exec/function_names.hpp>

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

namespace fairlead::impl::exec {
namespace {

/// Where the pair of parentheses ends that begins behind `at`.
std::size_t end_of_pair(std::string_view name, std::size_t at) noexcept {
    int open = 0;
    for (; at < name.size(); ++at) {
        open += name[at] == '(';
        open -= name[at] == ')';
        if (name[at] == ')' && open == 0)
            break;
    }
    return at;
}

/// Of "f(int)::f(...) [clone .actor]" the part before the parameters.
std::string without_parameters(std::string name) {
    std::string_view const all = name;
    int depth = 0; // Of template arguments and of lambdas, which have parentheses of their own.
    for (std::size_t at = 0; at < all.size(); ++at) {
        char const c = all[at];
        auto const rest = all.substr(at);
        if (rest.starts_with("(anonymous namespace)") || rest.starts_with("decltype") ||
            rest.starts_with("operator()")) {
            at = end_of_pair(all, at);
        } else if (c == '<' || c == '{') {
            ++depth;
        } else if (c == '>' || c == '}') {
            --depth;
        } else if (c == '(' && depth == 0) {
            name.resize(at);
            break;
        }
    }
    return name;
}

std::string readable(std::string const& symbol) {
    int failed = 0;
    char* const demangled = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &failed);
    std::string name(failed ? symbol.c_str() : demangled);
    std::free(demangled);
    return without_parameters(std::move(name));
}

/// A program or a library in memory.
struct module {
    std::string path;        ///< of its file; empty: there is none
    std::string name;        ///< of it, as people know it
    std::uintptr_t bias = 0; ///< between the addresses of the file and those in memory

    explicit module(void const* code) {
        Dl_info found{};
        void* map = nullptr;
        if (!dladdr1(code, &found, &map, RTLD_DL_LINKMAP) || !map)
            return;
        auto const& m = *static_cast<link_map const*>(map);
        bias = m.l_addr;
        bool const is_program = !m.l_name || !*m.l_name;
        path = is_program ? "/proc/self/exe" : m.l_name;
        name = is_program && found.dli_fname ? found.dli_fname : path;
    }
};

struct symbol {
    std::uintptr_t begins;
    std::uintptr_t ends;
    std::size_t name; ///< where it begins among the names
};

} // namespace

class function_names::file {
public:
    explicit file(std::string const& path) : path_(path) {
        std::ifstream in(path, std::ios::binary);
        ElfW(Ehdr) head{};
        if (!read(in, 0, &head, 1) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
            head.e_shentsize != sizeof(ElfW(Shdr)))
            return;
        std::vector<ElfW(Shdr)> sections(head.e_shnum);
        if (!read(in, head.e_shoff, sections.data(), sections.size()))
            return;
        for (auto const& s : sections)
            if (s.sh_type == SHT_SYMTAB && s.sh_link < sections.size())
                read_table(in, s, sections[s.sh_link]);
    }

    /// Empty: none is known.
    std::string symbol_at(std::uintptr_t address) const {
        auto const after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                            [](std::uintptr_t a, symbol const& s) { return a < s.begins; });
        if (after == symbols_.begin() || address >= std::prev(after)->ends)
            return {};
        auto const begins = std::prev(after)->name;
        return names_.substr(begins, names_.find('\0', begins) - begins);
    }
    std::string const& path() const noexcept { return path_; }

    std::unique_ptr<file> next;

private:
    template <class T> static bool read(std::ifstream& in, std::uintptr_t from, T* into, std::size_t n) {
        in.seekg(static_cast<std::streamoff>(from));
        in.read(reinterpret_cast<char*>(into), static_cast<std::streamsize>(n * sizeof(T)));
        return static_cast<bool>(in);
    }
    void read_table(std::ifstream& in, ElfW(Shdr) const& table, ElfW(Shdr) const& strings) {
        std::vector<ElfW(Sym)> all(table.sh_size / sizeof(ElfW(Sym)));
        names_.resize(strings.sh_size);
        if (!read(in, table.sh_offset, all.data(), all.size()) ||
            !read(in, strings.sh_offset, names_.data(), names_.size()))
            return;
        for (auto const& s : all)
            if ((s.st_info & 0xf) == STT_FUNC && s.st_size != 0 && s.st_name < names_.size())
                symbols_.push_back({s.st_value, s.st_value + s.st_size, s.st_name});
        std::sort(symbols_.begin(), symbols_.end(),
                  [](symbol const& a, symbol const& b) { return a.begins < b.begins; });
    }

    std::string path_;
    std::string names_;
    std::vector<symbol> symbols_;
};

function_names::function_names() noexcept = default;
function_names::~function_names() = default;

std::string function_names::of(void const* code) {
    module const in(code);
    if (in.path.empty())
        return place_of(code);
    auto* known = files_.get();
    while (known && known->path() != in.path)
        known = known->next.get();
    if (!known) {
        auto fresh = std::make_unique<file>(in.path);
        fresh->next = std::move(files_);
        files_ = std::move(fresh);
        known = files_.get();
    }
    if (auto const found = known->symbol_at(reinterpret_cast<std::uintptr_t>(code) - in.bias); !found.empty())
        return readable(found);
    Dl_info exported{};
    if (dladdr(code, &exported) && exported.dli_sname)
        return readable(exported.dli_sname);
    return place_of(code);
}

std::string function_names::place_of(void const* code) {
    module const in(code);
    char offset[32];
    std::snprintf(offset, sizeof offset, "+0x%zx",
                  static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(code) - in.bias));
    return in.name + offset;
}

} // namespace fairlead::impl::exec
