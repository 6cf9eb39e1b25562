// test_cupti.h - CUPTI and a device, played by the rules of CUPTI's headers.
//
//   TestCupti& cupti = TestCupti::Get();     // one, as of the real library
//   TestClient& client = cupti.AddClient("me");
//   client.request = ...; client.complete = ...;
//   cupti.Enable(client, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, false);
//   cupti.Launch("sgemm");                   // ends some time later
//   cupti.Flush(false);                      // not yet: it runs
//
// The rules, of which each has hidden a mistake once:
//
// - CUDA is initialised by the first launch. Devices are recorded then, the
//   context and the stream as well, or when somebody asks for them to be
//   dumped; a client that comes later and only enables them hears nothing.
// - Threads have buffers of their own. A buffer comes back when it is full and
//   all that it has a record of has ended; when it is flushed, and that has
//   ended; and when it is flushed by force, and then what has not ended has no
//   times.
// - Only what is enabled is recorded. Threads are pthread_self() unless the
//   system's ids were asked for, times are CLOCK_REALTIME unless there is a
//   clock, which has to be CLOCK_MONOTONIC here.
// - A client of the functions without _v2 is one behind the other: buffers that
//   one leaves behind are handed to the next (test_libcupti.cc).
#ifndef KYMO_BACKENDS_CUPTI_TEST_CUPTI_H_
#define KYMO_BACKENDS_CUPTI_TEST_CUPTI_H_

#include <cuda.h>
#include <cupti.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

// Of one client: its functions, and what it asked for.
struct TestClient {
  struct Buffer {
    uint8_t* data = nullptr;
    size_t size = 0;
    size_t used = 0;
    uint64_t ends_at = 0;  // of the last activity, CLOCK_MONOTONIC
  };

  std::string name;
  CUpti_CallbackFunc callback = nullptr;
  bool wants_init = false;
  std::function<void(uint8_t** buffer, size_t* size)> request;
  std::function<void(uint8_t* buffer, size_t size, size_t used)> complete;
  std::set<CUpti_ActivityKind> kinds;
  bool has_system_threads = false;
  CUpti_TimestampCallbackFunc clock = nullptr;
  std::map<pid_t, Buffer> open;  // by thread
  std::vector<Buffer> full;
  std::atomic<size_t> dropped = 0;
};

class TestCupti {
 public:
  // Made on first use, never destroyed: threads may be at work at the end.
  static TestCupti& Get();

  TestClient& AddClient(const char* name);
  void RemoveClient(TestClient* client);
  std::list<TestClient>& clients() { return clients_; }

  // `dumps`: existing devices, contexts and streams are recorded at once.
  void Enable(TestClient& client, CUpti_ActivityKind kind, bool dumps);
  void Disable(TestClient& client, CUpti_ActivityKind kind);
  CUptiResult ConfigureUnified();
  uint64_t Timestamp(const TestClient& client) const;
  static CUptiResult NextRecord(uint8_t* from, size_t valid,
                                CUpti_Activity** record);
  void Flush(bool forced);

  // A kernel of 2 us, or a copy to the device, of 1 us, on stream 7 of the
  // device; 1 us after the call at the earliest. The call takes 500 ns.
  void Launch(const char* name);
  void Copy(uint64_t bytes);
  // The device's work takes so much longer, from now on.
  void SlowDown(uint64_t ns) { slow_ns_ = ns; }
  // Until the device has done everything, and a microsecond.
  void Wait();
  bool is_up() const { return is_up_; }
  int flushes() const { return flushes_; }

  // The functions that end in _v2 are in use: the others may not be.
  std::atomic<bool> is_side_by_side = false;

 private:
  TestCupti() = default;

  void InitializeCuda();
  void Describe(TestClient& client, CUpti_ActivityKind kind);
  CUpti_ActivityAPI Call(uint32_t cbid);
  template <typename T>
  void RunOnStream(T& activity, uint64_t duration);
  template <typename T>
  void PutForAll(const T& record, uint64_t ends_at);
  void Put(TestClient& client, const void* record, size_t size,
           uint64_t ends_at);
  void HandBack(TestClient& client, TestClient::Buffer buffer);

  std::recursive_mutex lock_;
  std::list<TestClient> clients_;
  bool is_up_ = false;
  bool counts_unified_ = false;
  std::atomic<int> flushes_ = 0;
  uint32_t next_correlation_ = 1;
  uint64_t stream_free_ = 0;  // when its last activity ends
  uint64_t slow_ns_ = 0;
};

#endif  // KYMO_BACKENDS_CUPTI_TEST_CUPTI_H_
