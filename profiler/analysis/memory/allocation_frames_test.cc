#include "profiler/analysis/memory/allocation_frames.h"

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

// Names as they were in programs, of all compilers and libraries.
TEST(AllocationFramesTest, AllocatorsAreTheLibraries) {
  for (const char* function :
       {"malloc", "__libc_malloc", "posix_memalign", "operator new",
        "operator new(unsigned long)",
        "operator new[](unsigned long, std::align_val_t)",
        "std::allocator<int>::allocate",
        // libstdc++ before 12, 12 and 14
        "__gnu_cxx::new_allocator<char>::allocate(unsigned long, void const*)",
        "std::__new_allocator<Node>::allocate(unsigned long, void const*)",
        "std::allocator<int>::allocate(unsigned long)",
        "std::allocator_traits<std::allocator<f(int)> >::allocate(std::"
        "allocator<f(int)>&, unsigned long)",
        "std::_Vector_base<int, std::allocator<int> >::_M_allocate",
        "void std::vector<Node, std::allocator<Node> >::_M_realloc_insert<Node>"
        "(__gnu_cxx::__normal_iterator<Node*, std::vector<Node, std::allocator<"
        "Node> > >, Node&&)",
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::"
        "allocator<char> >::_S_allocate(std::allocator<char>&, unsigned long)",
        "std::_Rb_tree_node<int>* std::_Rb_tree<int, int>::_M_create_node<int>("
        "int&&)",
        "std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<Node, "
        "std::allocator<void>>(Node*&)",
        "std::pmr::new_delete_resource_t::do_allocate(unsigned long, unsigned "
        "long)",
        // libc++
        "std::__1::allocator<int>::allocate[abi:v160006](unsigned long)",
        "void* std::__1::__libcpp_operator_new[abi:ne190000]<unsigned long>("
        "unsigned long)",
        "std::__1::__split_buffer<int, std::__1::allocator<int>&>::__split_"
        "buffer(unsigned long, unsigned long, std::__1::allocator<int>&)",
        // Rust
        "__rust_alloc", "__rustc::__rust_alloc_zeroed", "__rdl_alloc",
        "alloc::alloc::alloc", "<alloc::alloc::Global>::alloc_impl",
        "<alloc::alloc::Global as core::alloc::Allocator>::allocate",
        "<alloc::raw_vec::RawVec<[u8; 40]>>::grow_one",
        "<alloc::raw_vec::RawVecInner<_>>::reserve::do_reserve_and_handle::"
        "<alloc::alloc::Global>",
        "alloc::raw_vec::finish_grow",
        // other allocators
        "je_malloc", "_rjem_malloc", "mi_heap_malloc_aligned",
        "_mi_malloc_generic", "mi_new", "tc_newarray", "tc_posix_memalign",
        "mi_heap_realloc_aligned_at", "mi_new_aligned_nothrow", "je_mallocx",
        "tcmalloc::ThreadCache::FetchFromCentralCache(unsigned int, int)",
        "TCMallocInternalNew"}) {
    EXPECT_TRUE(IsAllocationFunction(function)) << function;
  }
}

TEST(AllocationFramesTest, AllocatorsAreNobodyElses) {
  for (const char* function :
       {"", "main", "my_malloc", "mi_free", "Pool::malloc(unsigned long)",
        "Pool::allocate(unsigned long)", "Pool::_M_allocate(unsigned long)",
        "(anonymous namespace)::malloc()", "Cache::operator new(unsigned long)",
        "malloc_aligned", "tc_new_order", "mi_newton_solve", "_mi_news",
        "mi_allocate_texture", "je_allocation_report", "mi_malloc_size",
        "malloc+0x1f", "void Fill<std::_Vector_base<int> >(int)",
        "Node* Pool::Take<Node>(int)", "std::operator<(int, int)", "<", "a::",
        // what a program calls
        "std::vector<int, std::allocator<int> >::push_back(int const&)",
        "std::map<int, Node>::operator[](int const&)",
        "std::basic_ostream<char>& std::operator<< <std::char_traits<char> >("
        "std::basic_ostream<char>&, char const*)",
        "std::shared_ptr<Node> std::make_shared<Node>()",
        "<alloc::vec::Vec<u8>>::push", "alloc::fmt::format",
        "<alloc::boxed::Box<app::Row>>::new",
        // what calls the program, which may be inlined there
        "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{"
        "lambda()#1}> > >::_M_run()",
        "void std::__invoke_impl<void, main::{lambda()#1}>(std::__invoke_other,"
        " main::{lambda()#1}&&)",
        "std::_Function_handler<int (int), Big>::_M_invoke(std::_Any_data "
        "const&, int&&)",
        "std::thread::_Invoker<std::tuple<main::{lambda()#1}> >::operator()()",
        "main::{lambda()#1}::operator()() const",
        "Cache::Get(int) const::{lambda()#1}::operator()() const"}) {
    EXPECT_FALSE(IsAllocationFunction(function)) << function;
  }
}

TEST(AllocationFramesTest, AProgramsOwnMallocIsKnownByItsEnd) {
  for (const char* function :
       {"xmalloc", "xmalloc(unsigned long)", "my_malloc", "ber_memalloc_x",
        "ber_memcalloc_x", "ber_memrealloc_x", "g_malloc0", "g_malloc0_n",
        "g_try_realloc_n", "CRYPTO_zalloc", "PyMem_RawMalloc", "av_mallocz",
        "xstrdup", "sqlite3_malloc64", "ch_strdup", "ngx_memalign",
        "xcalloc.constprop.0", "xmalloc.part.0"}) {
    EXPECT_TRUE(IsAllocationWrapper(function)) << function;
  }
  for (const char* function :
       {"", "0", "_", "main", "Pool::malloc(unsigned long)", "alloc",
        "frame_alloc", "malloc_stats", "xmalloc_failed", "[truncated]",
        "mallocs_of", "app+0x1f0", "main.malloc"}) {
    EXPECT_FALSE(IsAllocationWrapper(function)) << function;
  }
}

TEST(AllocationFramesTest, LibrariesAreTheStandards) {
  for (const char* function :
       {"std::vector<int>::push_back(int const&)", "__gthread_mutex_lock",
        "std::__1::vector<int>::push_back[abi:v160006](int const&)",
        "__gnu_cxx::__normal_iterator<int*>::base() const",
        "Node& std::vector<Node>::emplace_back<Node>(Node&&)",
        "std::basic_ostream<char>& std::operator<< <std::char_traits<char> >("
        "std::basic_ostream<char>&, char const*)",
        "<alloc::vec::Vec<app::Row>>::push", "alloc::fmt::format",
        "<hashbrown::raw::RawTable<u32>>::reserve_rehash",
        "<alloc::string::String as core::fmt::Write>::write_str",
        "<i32 as core::fmt::Display>::fmt"}) {
    EXPECT_TRUE(IsLibraryFunction(function)) << function;
  }
  for (const char* function :
       {"main", "app::Fill(std::vector<int>&)", "core::Engine::Run()",
        "alloc::Pool::Take(int)", "stdx::vector<int>::push_back(int)",
        "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{"
        "lambda()#1}> > >::_M_run()",
        "app::fill", "<app::Row as core::clone::Clone>::clone",
        "<alloc::vec::Vec<u8> as app::Run>::run"}) {
    EXPECT_FALSE(IsLibraryFunction(function)) << function;
  }
}

class CallersTest : public testing::Test {
 protected:
  model::StackId Push(model::StackId parent, std::string_view function,
                      std::string_view module = "/bin/app") {
    return builder_.data().stacks.Push(
        parent,
        builder_.data().stacks.AddFrame({.function = builder_.Intern(function),
                                         .module = builder_.Intern(module)}));
  }

  TestTrace builder_;
};

TEST_F(CallersTest, AllocatorsAndLibrariesAreLeftOutAtTheEnd) {
  const auto start = Push(model::kEmptyStack, "_start");
  const auto sort = Push(start, "void std::sort<int*, Less>(int*, int*, Less)");
  const auto main = Push(sort, "main");
  const auto duplicate = Push(main, "strdup", "/lib/libc.so.6");
  const auto push = Push(main, "std::vector<int>::push_back(int const&)");
  const auto insert = Push(push, "std::vector<int>::_M_realloc_insert(int)");
  const auto leaf = Push(insert, "operator new(unsigned long)");
  const auto pages = Push(main, "os_map", "/lib/libjemalloc.so.2");
  const model::Trace trace = std::move(builder_).Build();
  AllocationFrames frames(trace);
  EXPECT_EQ(frames.Caller(leaf), push);
  EXPECT_EQ(frames.OwnCaller(leaf), main);
  EXPECT_EQ(frames.Caller(duplicate), duplicate);
  EXPECT_EQ(frames.OwnCaller(duplicate), main);
  EXPECT_EQ(frames.Caller(pages), main);
  EXPECT_EQ(frames.OwnCaller(sort), sort);  // nothing is the program's
  EXPECT_EQ(frames.OwnCaller(main), main);
}

TEST_F(CallersTest, ALibraryFunctionThatCallsTheProgramIsNotTheProgram) {
  const auto run = Push(model::kEmptyStack, "std::thread::_Invoker::_M_run()");
  const auto main = Push(run, "main");
  const auto invoke = Push(main, "void std::__invoke_impl<void, F>(F&&)");
  const auto leaf = Push(invoke, "std::vector<int>::push_back(int const&)");
  const model::Trace trace = std::move(builder_).Build();
  AllocationFrames frames(trace);
  EXPECT_EQ(frames.OwnCaller(leaf), invoke);
  EXPECT_EQ(frames.ProgramCaller(leaf), main);
  EXPECT_EQ(frames.ProgramCaller(main), main);
  EXPECT_EQ(frames.ProgramCaller(run), model::kEmptyStack);
}

TEST_F(CallersTest, ALambdaWithoutANameIsTheFunctionAroundIt) {
  const auto main = Push(model::kEmptyStack, "main");
  const auto lambda = Push(main, "operator()");
  const auto named = Push(main, "Table::operator()(int) const");
  const model::Trace trace = std::move(builder_).Build();
  AllocationFrames frames(trace);
  EXPECT_EQ(frames.ProgramCaller(lambda), main);
  EXPECT_EQ(frames.ProgramCaller(named), named);
}

TEST_F(CallersTest, AProgramsOwnMallocAsksForItsCaller) {
  const auto load = Push(model::kEmptyStack, "Load");
  const auto calloc = Push(load, "xcalloc");
  const auto wrapper = Push(calloc, "xmalloc");
  const auto leaf = Push(wrapper, "malloc", "/usr/lib/libc.so.6");
  const auto cut = Push(model::kEmptyStack, "[truncated]");
  const auto of_cut = Push(cut, "xmalloc");
  const auto alone = Push(model::kEmptyStack, "xmalloc");
  const model::Trace trace = std::move(builder_).Build();
  AllocationFrames frames(trace);
  EXPECT_EQ(frames.OwnCaller(leaf), load);
  EXPECT_EQ(frames.Caller(leaf), wrapper);  // files have whole stacks
  EXPECT_EQ(frames.ProgramCaller(leaf), wrapper);
  // Nobody else is known.
  EXPECT_EQ(frames.OwnCaller(of_cut), of_cut);
  EXPECT_EQ(frames.OwnCaller(alone), alone);
}

TEST_F(CallersTest, SomethingIsAlwaysLeft) {
  const auto start = Push(model::kEmptyStack, "calloc");
  const auto leaf = Push(start, "malloc");
  const model::Trace trace = std::move(builder_).Build();
  AllocationFrames frames(trace);
  EXPECT_EQ(frames.Caller(leaf), leaf);
  EXPECT_EQ(frames.OwnCaller(leaf), leaf);
  EXPECT_EQ(frames.Caller(model::kEmptyStack), model::kEmptyStack);
  EXPECT_EQ(frames.OwnCaller(model::kEmptyStack), model::kEmptyStack);
}

}  // namespace
}  // namespace kymo::analysis
