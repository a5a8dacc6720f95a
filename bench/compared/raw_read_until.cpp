// The limit of read_until.cpp: a coroutine whose await_ready searches the buffer, and nothing else.
//
//   raw_read_until await_ready|character N
//     await_ready looks for "\r\n", character for one character
#include <coroutine>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

namespace {

struct task {
    struct promise_type {
        task get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

struct line_end {
    static constexpr char delimiter[] = "\r\n";
    static constexpr std::size_t length = 2;
};
struct character {
    static constexpr char delimiter = '\n';
    static constexpr std::size_t length = 1;
};

template <class Wanted> struct find_line {
    std::string& text;
    std::size_t found = 0;
    explicit find_line(std::string& t) noexcept : text(t) {}
    bool await_ready() noexcept {
        found = text.find(Wanted::delimiter);
        return found != std::string::npos;
    }
    void await_suspend(std::coroutine_handle<>) const { std::abort(); }
    std::size_t await_resume() const noexcept { return found + Wanted::length; }
};

template <class Wanted> task read(std::string& text, long n) {
    for (long i = 0; i != n; ++i) {
        asm volatile("" : : "r"(text.data()) : "memory"); // The text may have changed, as far as the compiler knows.
        find_line<Wanted> line(text);
        co_await line;
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    std::string text = "Hello, world!\r\n";
    if (std::strcmp(argv[1], "character") == 0)
        read<character>(text, std::atol(argv[2]));
    else
        read<line_end>(text, std::atol(argv[2]));
}
