#include <fairlead/exec/function_names.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace named_function {

template <class T> struct part {
    // Not inlined, so that it has a symbol.
    [[gnu::noinline, gnu::used]] static int call(T (*f)(int)) { return f(1); }
    [[gnu::noinline, gnu::used]] int operator()(int n) const { return n; }
};

template <class T> [[gnu::noinline, gnu::used]] decltype(auto) deduced(T n) { return n + 1; }

} // namespace named_function

namespace {

using fairlead::impl::exec::function_names;

[[gnu::noinline, gnu::used]] int hidden_function(int n) { return n + 1; }

template <class F> void const* address_of(F* f) { return reinterpret_cast<void const*>(f); }

TEST(FunctionNames, AreThoseOfTheSourceWithoutParameters) {
    function_names names;
    EXPECT_EQ(names.of(address_of(&hidden_function)), "(anonymous namespace)::hidden_function");
    EXPECT_NE(names.of(address_of(&named_function::part<int>::call)).find("named_function::part<int>::call"),
              std::string::npos);
    EXPECT_EQ(names.of(address_of(&named_function::part<int>::call)).find("(*)"), std::string::npos);
}

TEST(FunctionNames, KeepTheParenthesesOfAReturnTypeAndOfAnOperator) {
    function_names names;
    EXPECT_NE(names.of(address_of(&named_function::deduced<int>)).find(") named_function::deduced<int>"),
              std::string::npos)
        << names.of(address_of(&named_function::deduced<int>));
    auto const call = &named_function::part<int>::operator();
    void const* code = nullptr;
    std::memcpy(&code, &call, sizeof code);
    EXPECT_EQ(names.of(code), "named_function::part<int>::operator()");
}

TEST(FunctionNames, AreFoundFromInsideTheFunction) {
    function_names names;
    auto const* const begin = static_cast<char const*>(address_of(&hidden_function));
    EXPECT_EQ(names.of(begin + 1), "(anonymous namespace)::hidden_function");
}

TEST(FunctionNames, OfALibraryAreFoundToo) {
    function_names names;
    EXPECT_NE(names.of(address_of(&std::abort)).find("abort"), std::string::npos);
}

TEST(FunctionNames, CodeOfNoFileHasItsAddressForAName) {
    EXPECT_EQ(function_names().of(nullptr), "+0x0");
    EXPECT_EQ(function_names::place_of(reinterpret_cast<void const*>(0x1234)), "+0x1234");
}

TEST(FunctionNames, APlaceNamesTheFileAndTheOffsetInIt) {
    auto const place = function_names::place_of(address_of(&hidden_function));
    EXPECT_NE(place.find("test_unit_exec+0x"), std::string::npos) << place;
}

} // namespace
