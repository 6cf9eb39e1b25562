#include "backends/stream/decode/decode_payload.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "profiler/model/loss_ledger.h"

namespace kymo::stream {
namespace {

using record::PayloadKind;
using record::Slot;

bool IsArgument(PayloadKind kind) {
  return kind == PayloadKind::kInt || kind == PayloadKind::kDouble ||
         kind == PayloadKind::kString || kind == PayloadKind::kNamed;
}

}  // namespace

std::optional<PayloadReader::Item> PayloadReader::Next() {
  record::PayloadHeader header;
  if (end_ - at_ < static_cast<ptrdiff_t>(sizeof(header))) {
    return std::nullopt;
  }
  std::memcpy(&header, at_, sizeof(header));
  if (header.kind == PayloadKind::kPayloadEnd ||
      header.kind > PayloadKind::kNamed) {
    return std::nullopt;
  }
  const size_t padded = (size_t{header.size_bytes} + 7) / 8 * 8;
  if (static_cast<size_t>(end_ - at_) - sizeof(header) < padded) {
    return std::nullopt;
  }
  const Item item = {header.kind,
                     header.key,
                     header.continues != 0,
                     {at_ + sizeof(header), header.size_bytes}};
  at_ += sizeof(header) + padded;
  return item;
}

void PayloadDecoder::ReadEvent(
    model::EventColumns& events, size_t row, int64_t pid, uint32_t domain,
    std::span<const std::span<const Slot>> payloads) {
  std::string name;
  PendingText text;
  model::Detail detail;
  model::RareDetail rare;
  bool has_detail = false;
  const size_t first_arg = shard_.args.size();
  if (domain != record::kNameLost) {
    shard_.args.push_back(model::Arg::String(shard_.strings.Intern("domain"),
                                             names_.Map(domain)));
  }
  for (const std::span<const Slot> payload : payloads) {
    PayloadReader reader(payload);
    while (const auto item = reader.Next()) {
      if (item->kind == PayloadKind::kName) {
        name += item->data;
      } else if (IsArgument(item->kind)) {
        AddArg(*item, text);
      } else if (ReadDetail(*item, pid, detail, rare)) {
        has_detail = true;
      }
    }
  }
  Flush(text);
  if (!name.empty()) events.name[row] = shard_.strings.Intern(name);
  if (shard_.args.size() == first_arg && !has_detail) return;
  if (events.detail.empty()) {
    events.detail.assign(events.size(), model::kNoDetail);
  }
  events.detail[row] = static_cast<model::DetailIndex>(shard_.details.size());
  detail.args_begin = static_cast<uint32_t>(first_arg);
  detail.args_end = static_cast<uint32_t>(shard_.args.size());
  shard_.rare_details.Set(detail, rare);
  shard_.details.push_back(detail);
}

model::StackId PayloadDecoder::ReadStack(std::span<const Slot> payload,
                                         int64_t pid) {
  const auto item = PayloadReader(payload).Next();
  return item ? ReadStack(*item, pid) : model::kEmptyStack;
}

model::StackId PayloadDecoder::ReadStack(const PayloadReader::Item& item,
                                         int64_t pid) {
  if (item.kind != PayloadKind::kStack || !stack_) return model::kEmptyStack;
  uint64_t pcs[record::kMaxStackFrames];
  const size_t size =
      std::min(item.data.size() / sizeof(pcs[0]), std::size(pcs));
  std::memcpy(pcs, item.data.data(), size * sizeof(pcs[0]));
  if (item.key != 0) shard_.ledger.Add(model::Loss::kStacksTruncated, 1);
  return stack_(pid, std::span(pcs, size));
}

// Reads an item that is not an argument into `detail` or `rare`; false for
// others.
bool PayloadDecoder::ReadDetail(const PayloadReader::Item& item, int64_t pid,
                                model::Detail& detail,
                                model::RareDetail& rare) {
  int64_t word = 0;
  if (item.data.size() == sizeof(word)) {
    std::memcpy(&word, item.data.data(), sizeof(word));
  }
  switch (item.kind) {
    case PayloadKind::kSequence:
      detail.sequence_nr = word;
      rare.forward_thread = item.key;
      return true;
    case PayloadKind::kHandle:
      rare.debug_handle = word;
      rare.node_id = int64_t{item.key} - 1;
      return true;
    case PayloadKind::kOverload:
      if (!wanted_.overload_names) return false;
      detail.overload_name = shard_.strings.Intern(item.data);
      return true;
    case PayloadKind::kInputs:
      if (!wanted_.inputs) return false;
      detail.inputs = shard_.strings.Intern(item.data);
      return true;
    case PayloadKind::kStack:
      if (!wanted_.stacks) return false;
      detail.stack = ReadStack(item, pid);
      return true;
    default:
      return false;
  }
}

void PayloadDecoder::AddArg(const PayloadReader::Item& item,
                            PendingText& pending) {
  if (item.kind == PayloadKind::kString) {
    if (!item.continues || !pending.is_open) {
      Flush(pending);
      pending.is_open = true;
      pending.key = item.key;
    }
    pending.text += item.data;
    return;
  }
  Flush(pending);
  if (item.data.size() != sizeof(uint64_t)) return;
  model::Arg arg;
  arg.key = names_.Map(item.key);
  if (item.kind == PayloadKind::kNamed) {
    uint64_t name;
    std::memcpy(&name, item.data.data(), sizeof(name));
    shard_.args.push_back(
        model::Arg::String(arg.key, names_.Map(static_cast<uint32_t>(name))));
    return;
  }
  arg.type = item.kind == PayloadKind::kInt ? model::ArgType::kInt
                                            : model::ArgType::kDouble;
  std::memcpy(&arg.bits, item.data.data(), sizeof(arg.bits));
  shard_.args.push_back(arg);
}

void PayloadDecoder::Flush(PendingText& pending) {
  if (!pending.is_open) return;
  shard_.args.push_back(model::Arg::String(
      names_.Map(pending.key), shard_.strings.Intern(pending.text)));
  pending = PendingText();
}

}  // namespace kymo::stream
