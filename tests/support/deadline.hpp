// A test that hangs ends itself, and says what it waited for. Each test has a deadline: a little less than ctest's, or
// FAIRLEAD_TEST_DEADLINE seconds (0: none). Under SIM_COUNT, where one test runs many worlds, there is none.
#pragma once

namespace fairlead::test {

/// Says what this thread of the test waits for, as long as the object lives; the text is kept by the caller.
class waiting_for {
public:
    explicit waiting_for(char const* what) noexcept;
    ~waiting_for();

    waiting_for(waiting_for const&) = delete;
    waiting_for& operator=(waiting_for const&) = delete;

private:
    char const* before_;
};

} // namespace fairlead::test
