// The limit of read_until.cpp: a coroutine whose await_ready searches the buffer, and nothing else.
//
//   raw_read_until await_ready N
#include <coroutine>
#include <cstdlib>
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

struct find_line {
    std::string& text;
    std::size_t found = 0;
    explicit find_line(std::string& t) noexcept : text(t) {}
    bool await_ready() noexcept {
        found = text.find('\n');
        return found != std::string::npos;
    }
    void await_suspend(std::coroutine_handle<>) const { std::abort(); }
    std::size_t await_resume() const noexcept { return found + 1; }
};

task read(std::string& text, long n) {
    for (long i = 0; i != n; ++i) {
        asm volatile("" : : "r"(text.data()) : "memory"); // The text may have changed, as far as the compiler knows.
        find_line line(text);
        co_await line;
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    std::string text = "Hello, world!\n";
    read(text, std::atol(argv[2]));
}
