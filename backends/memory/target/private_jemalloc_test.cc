// The hooks of jemalloc's functions where no jemalloc comes behind them.
//
// Each test is a process of its own, since the first call decides.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <initializer_list>

// The hooks, which the program links.
extern "C" {
void* mallocx(size_t bytes, int flags);
void* rallocx(void* block, size_t bytes, int flags);
void dallocx(void* block, int flags);
void sdallocx(void* block, size_t bytes, int flags);
}

namespace {

template <typename Function>
Function* In(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// The library whose path the variable has.
void* Open(const char* variable) {
  return dlopen(getenv(variable), RTLD_LAZY | RTLD_LOCAL);
}

// Ends the process with the number of the first that is false, or 0.
[[noreturn]] void End(std::initializer_list<bool> all) {
  int number = 0;
  for (const bool is_true : all) {
    ++number;
    if (!is_true) _Exit(number);
  }
  _Exit(0);
}

TEST(PrivateJemallocTest, ALibraryGetsItsOwn) {
  const auto test = [] {
    void* const library = Open("KYMO_TEST_JEMALLOC");
    if (library == nullptr) End({false});
    void* const block = In<void*(size_t)>(library, "Allocate")(100);
    auto* const is_own = In<bool(void*)>(library, "IsOwn");
    auto* const owned = In<int()>(library, "Owned");
    const bool first_is_own = is_own(block);
    void* const moved =
        In<void*(void*, size_t)>(library, "Reallocate")(block, 200);
    const bool moved_is_own = is_own(moved);
    const int before = owned();
    In<void(void*)>(library, "Free")(moved);
    End({true, first_is_own, moved_is_own, before == 1, owned() == 0});
  };
  EXPECT_EXIT(test(), testing::ExitedWithCode(0), "");
}

// Then the address that the hook returns to is in another file.
TEST(PrivateJemallocTest, ALibraryThatJumpsToTheHookGetsItsOwn) {
  const auto test = [] {
    void* const library = Open("KYMO_TEST_JEMALLOC_BY_NAME");
    if (library == nullptr) End({false});
    auto* const is_own = In<bool(void*)>(library, "IsOwn");
    auto* const owned = In<int()>(library, "Owned");
    void* const block = mallocx(100, 0);
    const bool first_is_own = is_own(block);
    void* const moved = rallocx(block, 1'000, 0);
    const bool moved_is_own = is_own(moved);
    dallocx(moved, 0);
    sdallocx(In<void*(size_t)>(library, "Allocate")(100), 100, 0);
    End({true, first_is_own, moved_is_own, owned() == 0});
  };
  EXPECT_EXIT(test(), testing::ExitedWithCode(0), "");
}

TEST(PrivateJemallocTest, WhatTheFirstCallFoundStays) {
  const auto test = [] {
    void* const block = mallocx(100, 0);
    void* const other = mallocx(100, 0);
    free(block);
    if (Open("KYMO_TEST_JEMALLOC_BY_NAME") == nullptr) End({false});
    void* const moved = rallocx(other, 5'000, 0);
    dallocx(moved, 0);
    free(mallocx(100, 0));
    End({true});
  };
  EXPECT_EXIT(test(), testing::ExitedWithCode(0), "");
}

}  // namespace
