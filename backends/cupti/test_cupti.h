// test_cupti.h - CUPTI and a device, imitated by the rules of CUPTI's headers.
//
//   TestCupti& cupti = TestCupti::Get();     // one, like the real library
//   TestClient& client = cupti.AddClient("me");
//   client.request = ...; client.complete = ...;
//   cupti.Enable(client, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, false);
//   cupti.Launch("sgemm");                   // ends some time later
//   cupti.Flush(false);                      // not yet: it runs
//
// Each of these rules has hidden a mistake once:
//
// - The first launch initialises CUDA. Clients that enabled devices, contexts
//   and streams get records of them then, or when they ask for a dump. A client
//   that comes later and only enables these kinds gets none.
// - Each thread has a buffer of its own. A buffer comes back when it is full
//   and all activities in it have ended. A flush returns it if all have ended.
//   A forced flush returns it always; activities that have not ended then have
//   no times.
// - Only enabled kinds are recorded. Thread ids are pthread_self() unless the
//   client asked for the system's ids. Times are CLOCK_REALTIME unless the
//   client set a clock, which must be CLOCK_MONOTONIC here.
// - Clients of the functions without _v2 come one after the other: buffers that
//   one leaves behind go to the next (test_libcupti.cc).
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

// One client: its functions, and what it enabled.
struct TestClient {
  struct Buffer {
    uint8_t* data = nullptr;
    size_t size = 0;
    size_t used = 0;
    uint64_t ends_at = 0;  // the last activity's end, CLOCK_MONOTONIC
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
  // Made on first use and never destroyed, since threads may still run at the
  // end.
  static TestCupti& Get();

  TestClient& AddClient(const char* name);
  void RemoveClient(TestClient* client);
  std::list<TestClient>& clients() { return clients_; }

  // `dumps`: records the existing devices, contexts and streams at once.
  void Enable(TestClient& client, CUpti_ActivityKind kind, bool dumps);
  void Disable(TestClient& client, CUpti_ActivityKind kind);
  CUptiResult ConfigureUnified();
  uint64_t Timestamp(const TestClient& client) const;
  static CUptiResult NextRecord(uint8_t* from, size_t valid,
                                CUpti_Activity** record);
  void Flush(bool forced);

  // A kernel of 2 us, or a copy to the device of 1 us, on stream 7 of the
  // device. It begins at least 1 us after the call, which takes 500 ns.
  void Launch(const char* name);
  void Copy(uint64_t bytes);
  // From now on the device's work takes so much longer.
  void SlowDown(uint64_t ns) { slow_ns_ = ns; }
  // Waits until the device has done everything, and one microsecond more.
  void Wait();
  bool is_up() const { return is_up_; }
  int flushes() const { return flushes_; }

  // The functions that end in _v2 are in use, so the others must not be called.
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
