// event_args.h - reads the `args` of an event. What a trace has a place for
// goes there; the rest stays arguments.
//
//   key                        | becomes
//   External id                | correlation id, of operations; an argument of
//                              | runtime calls and device work, whose operation
//                              | is found by nesting
//   correlation                | correlation id, of those
//   Sequence number, Fwd ...   | sequence_nr, forward_thread
//   Input ..., Concrete Inputs | encoded inputs
//   Call stack                 | a stack
//   device, stream             | the row, of device work
//   finished: false            | an open range
//   kymo_folded                | the number of ranges that a range stands for
//   Python module id           | besides the argument, the flag of a module
//   Ev Idx, Record function    | nothing: positions in that file, and 0
//   id: 0                      |
//
// Equal texts in one stretch of a file are processed once.
// Threads: one at a time.
#ifndef KYMO_IMPORTERS_CHROME_EVENTS_EVENT_ARGS_H_
#define KYMO_IMPORTERS_CHROME_EVENTS_EVENT_ARGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "importers/chrome/events/call_stack_text.h"
#include "importers/chrome/events/input_encoder.h"
#include "importers/chrome/events/parsed_events.h"
#include "importers/chrome/events/raw_event.h"

namespace kymo::chrome_import {

// Whether the type is work of a device, or a call that asks for it: then its
// correlation id is the driver's.
bool HasDriverCorrelation(model::ActivityType type);
// None: no device has such a number.
std::optional<int32_t> AsDevice(std::optional<int64_t> number);
// Whether ranges of this type are on the rows of a device.
bool IsDeviceWork(model::ActivityType type);

struct ReadArgs {
  model::DetailIndex detail = model::kNoDetail;
  std::optional<int32_t> device;
  std::optional<int64_t> stream;
  bool is_open = false;
  bool is_folded = false;
  bool is_module = false;
};

class EventArgsReader {
 public:
  // `out` must outlive the object.
  explicit EventArgsReader(ParsedEvents& out)
      : out_(out), stacks_(out.strings, out.stacks) {}

  // `category` is kept as an argument; it is empty if it is the type's own.
  ReadArgs Read(model::ActivityType type, const RawEvent& event,
                std::string_view category);

 private:
  struct KnownInputs {
    model::NameId inputs = model::kEmptyName;
    std::array<bool, kInputKeys> is_exact{};
  };

  bool ReadKnown(const RawArg& arg, ReadArgs& read);
  void AddInputs();
  const KnownInputs& FindInputs();
  void AddArg(std::string_view key, const JsonValue& value);
  bool IsDriverType() const { return HasDriverCorrelation(type_); }
  // Calls and operations may name a device although they are not on its rows.
  bool IsRuntimeOrHost() const;

  ParsedEvents& out_;
  CallStackTexts stacks_;
  absl::flat_hash_map<std::string, KnownInputs> inputs_;
  absl::flat_hash_map<std::string, model::DetailIndex> categories_;
  std::string scratch_;

  // About the event that is being read.
  model::ActivityType type_{};
  model::Detail detail_;
  model::RareDetail rare_;
  InputTexts texts_;
  bool has_inputs_ = false;  // some of texts_ is set
  bool has_detail_ = false;
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENTS_EVENT_ARGS_H_
