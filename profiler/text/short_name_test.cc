#include "profiler/text/short_name.h"

#include <gtest/gtest.h>

#include <string>

#include "profiler/text/text_cells.h"

namespace kymo::report {
namespace {

TEST(ShortNameTest, ANameThatFitsStaysWhole) {
  EXPECT_EQ(ShortName("f(int)", 6), "f(int)");
  EXPECT_EQ(ShortName("", 0), "");
}

TEST(ShortNameTest, WhatNobodyWritesIsNotShown) {
  EXPECT_EQ(ShortName("f(std::vector<int, std::allocator<int> >)", 80),
            "f(std::vector<int>)");
}

TEST(ShortNameTest, ParametersGoFirst) {
  EXPECT_EQ(ShortName("Map<int>::at(std::pair<int, int>) const", 20),
            "Map<int>::at");
  EXPECT_EQ(ShortName("f(void (*)(int), char) [clone .cold]", 10), "f");
}

TEST(ShortNameTest, ParenthesesThatAreNoParametersStay) {
  EXPECT_EQ(ShortName("a::F::operator()", 15), "a::F...erator()");
  EXPECT_EQ(ShortName("a::Functor::operator()(int) const", 25),
            "a::Functor::operator()");
  EXPECT_EQ(ShortName("(anonymous namespace)::Run", 25),
            "(anonym...namespace)::Run");
  EXPECT_EQ(ShortName("f()::{lambda(int)#1}::x", 22), "f()::{...da(int)#1}::x");
  // The receivers of Go's methods.
  EXPECT_EQ(ShortName("compress/flate.(*fastEncL5).Encode", 26),
            "compres...astEncL5).Encode");
  EXPECT_EQ(ShortName("net/http.(*Server).Serve.func3", 24),
            "net/htt...r).Serve.func3");
}

TEST(ShortNameTest, TextsThatAreNoFunctionsKeepTheirEnds) {
  EXPECT_EQ(ShortName("forward (batch 17) of layer 3", 20),
            "forwa...) of layer 3");
  EXPECT_EQ(ShortName("forward of layer (3)", 15), "forw...ayer (3)");
}

TEST(ShortNameTest, ThenWhatIsBetweenAngleBrackets) {
  EXPECT_EQ(ShortName("ns::Table<int, std::less<long>>::insert(int)", 22),
            "ns::Table<...>::insert");
  EXPECT_EQ(ShortName("F<int, char>::operator<<(A<int>)", 20),
            "F<...>::operator<<");
  EXPECT_EQ(ShortName("std::map<my_operator<int>, long>::at", 18),
            "std::map<...>::at");
  EXPECT_EQ(ShortName("P<int, char>::operator->()", 20), "P<...>::operator->");
  EXPECT_EQ(ShortName("G<decltype(a->b), long>::f", 10), "G<...>::f");
}

TEST(ShortNameTest, PythonsBracketsAreNames) {
  EXPECT_EQ(ShortName("load.<locals>.<lambda> (<string>:4)", 30),
            "load.<loc...mbda> (<string>:4)");
  EXPECT_EQ(ShortName("<module> (training_loop_of_the_model.py:12)", 30),
            "<module> ...f_the_model.py:12)");
  EXPECT_EQ(ShortName("<alloc::vec::Vec<T> as core::ops::Drop>::drop", 20),
            "<...>::drop");
}

TEST(ShortNameTest, BracketsThatDoNotMatchAreText) {
  EXPECT_EQ(ShortName("a<b and many words", 12), "a<b... words");
  EXPECT_EQ(ShortName("a)b and many words", 12), "a)b... words");
}

TEST(ShortNameTest, ThenItsMiddle) {
  EXPECT_EQ(ShortName("abcdefghijklmnop", 9), "ab...mnop");
  EXPECT_EQ(ShortName("abcdef", 3), "def");
  EXPECT_EQ(ShortName("abcdef", 0), "");
}

TEST(ShortNameTest, AnAddressAtTheBeginStays) {
  EXPECT_EQ(ShortName("0x7f6b81a12340, made in connections_init", 33),
            "0x7f6b81a12340, mad...ctions_init");
  EXPECT_EQ(ShortName("0x7f6b81a12340 Pool<int>::mutex(int)", 31),
            "0x7f6b81a12340 Pool<int>::mutex");
  // There is no room for what it is.
  EXPECT_EQ(ShortName("0x7f6b81a12340 in server", 23),
            "0x7f6b...2340 in server");
  EXPECT_EQ(ShortName("0x7f6b81a12340", 9), "0x...2340");
}

TEST(ShortNameTest, EachStepIsTakenWhereTheNextColumnIsMissing) {
  const std::string name = "A<B<C>, D>::e(F, G)";
  EXPECT_EQ(ShortName(name, 19), name);
  EXPECT_EQ(ShortName(name, 18), "A<B<C>, D>::e");
  EXPECT_EQ(ShortName(name, 13), "A<B<C>, D>::e");
  EXPECT_EQ(ShortName(name, 12), "A<...>::e");
  EXPECT_EQ(ShortName(name, 9), "A<...>::e");
  EXPECT_EQ(ShortName(name, 8), "A...>::e");
  EXPECT_EQ(ShortName(name, 4), "...e");
  EXPECT_EQ(ShortName(name, 3), "::e");
}

TEST(ShortNameTest, WhatMayFollowParametersGoesWithThem) {
  for (const char* const qualifier :
       {"", " const", " volatile", " &", " &&", " noexcept", " [clone .cold]",
        "[abi:cxx11]", "@plt", ".cold", " const &"}) {
    EXPECT_EQ(ShortName("g(h(int), (char))" + std::string(qualifier), 5), "g")
        << qualifier;
  }
  EXPECT_EQ(ShortName("g(int) x", 5), "... x");
  EXPECT_EQ(ShortName("g(int)const", 5), "...st");
  EXPECT_EQ(ShortName("(int)", 4), "...)");
  EXPECT_EQ(ShortName("batch (17)", 8), "b...(17)");
  EXPECT_EQ(ShortName("a)b(c)", 5), "a)b");
  EXPECT_EQ(ShortName("xy)z)", 4), "...)");
}

TEST(ShortNameTest, OperatorsAreNoBrackets) {
  EXPECT_EQ(ShortName("operator<(A)", 9), "operator<");
  EXPECT_EQ(ShortName("A::operator<=>(B)", 14), "A::operator<=>");
  EXPECT_EQ(ShortName("A<int, int>::operator>>(B)", 20), "A<...>::operator>>");
  EXPECT_EQ(ShortName("A<int, int>::operator!=(B)", 20), "A<...>::operator!=");
  EXPECT_EQ(ShortName("A<int, int>::operator-(B)", 20), "A<...>::operator-");
  EXPECT_EQ(ShortName("A<int, int>::operator()", 20), "A<...>::operator()");
  EXPECT_EQ(ShortName("A<int, int>::operator()<char, char>::f", 30),
            "A<...>::operator()<...>::f");
  // These only have the word in their names.
  EXPECT_EQ(ShortName("my_operator<int, long>::f", 20), "my_operator<...>::f");
  EXPECT_EQ(ShortName("operatorX<int, long>::f", 20), "operatorX<...>::f");
  EXPECT_EQ(ShortName("operator_<int, long>::f", 20), "operator_<...>::f");
  EXPECT_EQ(ShortName("A<int, int>::B<char, char>::c", 20),
            "A<...>::B<...>::c");
}

TEST(ShortNameTest, IsNeverWiderThanAsked) {
  const std::string name =
      "r\xC3\xA9sum\xC3\xA9<\xC3\xA9\xC3\xA9\xC3\xA9, int>::f\xC3\xBCr(int)";
  for (size_t width = 0; width <= TextWidth(name); ++width) {
    EXPECT_LE(TextWidth(ShortName(name, width)), width);
  }
}

}  // namespace
}  // namespace kymo::report
