// reader_code.h - names that examples in public headers may use undeclared.
//
// They stand for the reader's own code. make_examples.py puts this header in
// front of all examples. Nothing here has a body: examples are compiled, never
// linked.
#ifndef KYMO_TESTS_HEADERS_READER_CODE_H_
#define KYMO_TESTS_HEADERS_READER_CODE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

struct Batch {};
extern std::vector<Batch> batches;

// Work of the program.
int Work(int number = 0);
void Forward(const Batch& batch);
double Train(const Batch& batch);
void CompiledStep(const Batch& batch);

// A node of a program's own graph of gradients.
struct GradientNode {
  int64_t sequence_nr;
  uint64_t thread_id;
};
extern GradientNode* node;

// A pool of threads.
struct Pool {
  void Submit(std::function<void()> task);
};
extern Pool pool;

// A call to another process.
struct Reply {};
std::future<Reply> Send(std::string_view request);

// Events of a device, as its library has them.
void* RecordNpuEvent();
void FreeNpuEvent(void* event);
double NpuMicroseconds(const void* begin, const void* end);

extern void* block;
extern int64_t bytes;
extern int64_t used_bytes;
extern int64_t pool_bytes;
extern int rank;

// A trace, such as *profile.trace().
namespace kymo::model {
class Trace;
}
extern const kymo::model::Trace& trace;

// The settings of an exporter, declared as settings.h shows.
namespace kymo {
template <typename S>
class SettingTable;
}
struct CsvSettings {
  std::string separator = ",";
};
const kymo::SettingTable<CsvSettings>& CsvTable();

// Shows its arguments.
template <typename... T>
void Print(const T&... values);

#endif  // KYMO_TESTS_HEADERS_READER_CODE_H_
