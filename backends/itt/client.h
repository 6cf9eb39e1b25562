// client.h - says things through ITT, to whatever tool is there.
//
//   const IttClient& itt = GetIttClient();
//   if (itt.is_available()) {
//     itt.Push("step");
//     itt.Pop();
//   }
//
// Finds the tool in the way of ITT's own static part, without it: the library
// that INTEL_LIBITTNOTIFY64 names. Tasks are of the domain "kymo".
//
// Threads: any. Errors: without a tool nothing is said.
#ifndef KYMO_BACKENDS_ITT_CLIENT_H_
#define KYMO_BACKENDS_ITT_CLIENT_H_

#include "backends/itt/target/itt_abi.h"

namespace kymo::itt {

class IttClient {
 public:
  IttClient();
  IttClient(const IttClient&) = delete;
  IttClient& operator=(const IttClient&) = delete;

  bool is_available() const noexcept { return domain_ != nullptr; }
  void Push(const char* name) const noexcept;
  void Pop() const noexcept;
  void Mark(const char* name) const noexcept;

 private:
  Domain* domain_ = nullptr;  // null: nobody listens
};

// Initialises the tool on the first call.
const IttClient& GetIttClient();

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_CLIENT_H_
