// client.h - makes ITT calls, to whatever tool is there.
//
//   const IttClient& itt = GetIttClient();
//   if (itt.is_available()) {
//     itt.Push("step");
//     itt.Pop();
//   }
//
// The tool is found as ITT's own static part finds it, but without that part:
// it is the library that INTEL_LIBITTNOTIFY64 names. Tasks belong to the domain
// "kymo".
//
// Threads: any. Errors: without a tool, the calls do nothing.
#ifndef KYMO_BACKENDS_ITT_TARGET_CLIENT_H_
#define KYMO_BACKENDS_ITT_TARGET_CLIENT_H_

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
  Domain* domain_ = nullptr;  // null: there is no tool
};

// Initialises the tool on the first call.
const IttClient& GetIttClient();

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_CLIENT_H_
