// decode_payload.h - decodes the payload behind a record's head.
//
//   PayloadDecoder decoder(input, names, shard);
//   decoder.ReadEvent(events, row, pid, payloads);
//
// Names that the program made, arguments, and what PyTorch calls inputs,
// sequence numbers and stacks. One thread at a time.
// Trust: reads as far as it can. The first unreadable item ends its payload.
#ifndef KYMO_BACKENDS_STREAM_DECODE_DECODE_PAYLOAD_H_
#define KYMO_BACKENDS_STREAM_DECODE_DECODE_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backends/stream/decode/decode_names.h"
#include "profiler/model/rare_details.h"
#include "profiler/model/records.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {

// The stack of return addresses (innermost first) of a process, or a number
// that stands for it.
using StackOf =
    std::function<model::StackId(int64_t pid, std::span<const uint64_t> pcs)>;

// The items of a payload, one after the other.
class PayloadReader {
 public:
  explicit PayloadReader(std::span<const record::Slot> slots)
      : at_(reinterpret_cast<const char*>(slots.data())),
        end_(at_ + slots.size_bytes()) {}

  struct Item {
    record::PayloadKind kind;
    uint32_t key;
    bool continues;
    std::string_view data;
  };

  // Nothing at the end, or if the next bytes cannot be an item.
  std::optional<Item> Next();

 private:
  const char* at_;
  const char* end_;
};

// The details of events that a session asked for. A process records what any of
// its sessions wants.
struct WantedDetails {
  bool inputs = true;
  bool stacks = true;
  bool overload_names = true;
};

class PayloadDecoder {
 public:
  // All references outlive this. `stack` may be empty: then nothing has stacks.
  PayloadDecoder(const StackOf& stack, const WantedDetails& wanted,
                 NameMap& names, model::TraceShard& shard)
      : stack_(stack), wanted_(wanted), names_(names), shard_(shard) {}

  // The payloads of one event, in the order in which they were written. A
  // domain that is not record::kNameLost becomes its first argument.
  void ReadEvent(model::EventColumns& events, size_t row, int64_t pid,
                 uint32_t domain,
                 std::span<const std::span<const record::Slot>> payloads);

  // The stack that the payload begins with.
  model::StackId ReadStack(std::span<const record::Slot> payload, int64_t pid);

 private:
  // A string argument, until its last piece has come.
  struct PendingText {
    bool is_open = false;
    uint32_t key = 0;
    std::string text;
  };

  bool ReadDetail(const PayloadReader::Item& item, int64_t pid,
                  model::Detail& detail, model::RareDetail& rare);
  model::StackId ReadStack(const PayloadReader::Item& item, int64_t pid);
  void AddArg(const PayloadReader::Item& item, PendingText& pending);
  void Flush(PendingText& pending);

  const StackOf& stack_;
  const WantedDetails wanted_;
  NameMap& names_;
  model::TraceShard& shard_;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_DECODE_PAYLOAD_H_
