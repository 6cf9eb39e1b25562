#include "profiler/text/folded_defaults.h"

#include <gtest/gtest.h>

#include <string>

namespace kymo::report {
namespace {

TEST(FoldedDefaultsTest, DefaultArgumentsGo) {
  EXPECT_EQ(
      FoldDefaults("std::vector<int, std::allocator<int> >::push_back(int&&)"),
      "std::vector<int>::push_back(int&&)");
  EXPECT_EQ(FoldDefaults("std::map<int, A<char>, std::less<int>, "
                         "std::allocator<std::pair<int const, A<char> > > >"),
            "std::map<int, A<char>>");
  EXPECT_EQ(FoldDefaults("std::unordered_map<K, V, std::hash<K>, "
                         "std::equal_to<K>, std::allocator<std::pair<K const, "
                         "V> > >::at(K const&)"),
            "std::unordered_map<K, V>::at(K const&)");
  EXPECT_EQ(FoldDefaults("std::unique_ptr<T, std::default_delete<T> >::get()"),
            "std::unique_ptr<T>::get()");
}

TEST(FoldedDefaultsTest, ArgumentsThatSomebodyGaveStay) {
  EXPECT_EQ(FoldDefaults("std::map<int, V, std::less<long> >"),
            "std::map<int, V, std::less<long>>");
  EXPECT_EQ(FoldDefaults("std::vector<int, my::allocator<int> >"),
            "std::vector<int, my::allocator<int>>");
  EXPECT_EQ(FoldDefaults("std::allocator_traits<std::allocator<int> >::f"),
            "std::allocator_traits<std::allocator<int>>::f");
  EXPECT_EQ(FoldDefaults("F<std::allocator<int>, int>::g()"),
            "F<std::allocator<int>, int>::g()");
}

TEST(FoldedDefaultsTest, StringsHaveTheirNames) {
  EXPECT_EQ(FoldDefaults("std::__cxx11::basic_string<char, "
                         "std::char_traits<char>, std::allocator<char> "
                         ">::append(char const*)"),
            "std::string::append(char const*)");
  EXPECT_EQ(FoldDefaults("f(std::vector<std::__1::basic_string<char, "
                         "std::__1::char_traits<char>, "
                         "std::__1::allocator<char>>, "
                         "std::__1::allocator<std::__1::basic_string<char, "
                         "std::__1::char_traits<char>, "
                         "std::__1::allocator<char>>>>)"),
            "f(std::vector<std::string>)");
  EXPECT_EQ(FoldDefaults("std::basic_ostream<char, std::char_traits<char> >& "
                         "std::operator<< <std::char_traits<char> >(char)"),
            "std::ostream& std::operator<< <std::char_traits<char>>(char)");
  EXPECT_EQ(FoldDefaults("g(std::basic_string_view<wchar_t, "
                         "std::char_traits<wchar_t> >)"),
            "g(std::wstring_view)");
}

TEST(FoldedDefaultsTest, TagsGo) {
  EXPECT_EQ(FoldDefaults("A::name[abi:cxx11]() const"), "A::name() const");
  EXPECT_EQ(FoldDefaults("f[abi:cxx11"), "f[abi:cxx11");
}

TEST(FoldedDefaultsTest, OtherTextStays) {
  for (const std::string text :
       {"", "main", "forward, (batch 17) of < layer", "a > b, c",
        "T<decltype(a->b, c)>::f(int, char)", "F::operator<(int, char)",
        "P<int>::operator->()", "fib t.js:3", "a<b and, many words",
        "f(void (*)(int, char), std::function<void (int, char)>)"}) {
    EXPECT_EQ(FoldDefaults(text), text);
  }
  const std::string deep(3000, '<');
  EXPECT_EQ(FoldDefaults(deep), deep);
  const std::string long_name = std::string(5000, 'x') + "[abi:cxx11]";
  EXPECT_EQ(FoldDefaults(long_name), long_name);
}

}  // namespace
}  // namespace kymo::report
