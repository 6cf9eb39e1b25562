#include "backends/cpu/decode/resources.h"

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "profiler/record/layout.h"

namespace kymo::cpu {
namespace {

std::string_view KindName(uint8_t kind) {
  switch (static_cast<record::ResourceKind>(kind)) {
    case record::ResourceKind::kThread:
      return "thread";
    case record::ResourceKind::kDevice:
      return "device";
    case record::ResourceKind::kContext:
      return "context";
    case record::ResourceKind::kStream:
      return "stream";
    case record::ResourceKind::kEvent:
      return "event";
    default:
      return "other";
  }
}

// A JSON string. Bytes of text that is not UTF-8 become question marks.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t size = c < 0x80             ? 1
                        : (c & 0xe0) == 0xc0 ? 2
                        : (c & 0xf0) == 0xe0 ? 3
                        : (c & 0xf8) == 0xf0 ? 4
                                             : 0;
    bool whole = size != 0 && i + size <= text.size();
    for (size_t k = 1; whole && k < size; ++k) {
      whole = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    }
    if (!whole) {
      quoted += '?';
      ++i;
    } else if (c < 0x20 || c == '"' || c == '\\') {
      absl::StrAppend(&quoted, "\\u00", absl::Hex(c, absl::kZeroPad2));
      ++i;
    } else {
      quoted.append(text, i, size);
      i += size;
    }
  }
  return quoted + "\"";
}

}  // namespace

void AddResources(std::span<const Resource> resources,
                  model::TraceShard& shard) {
  std::map<std::tuple<int64_t, uint8_t, uint64_t>, const Resource*> last;
  for (const Resource& resource : resources) {
    last[{resource.pid, resource.kind, resource.handle}] = &resource;
  }
  if (last.empty()) return;
  std::string json;
  for (const auto& [key, resource] : last) {
    absl::StrAppend(
        &json, json.empty() ? "[" : ", ", "{\"process\": ", resource->pid,
        ", \"kind\": \"", std::string(KindName(resource->kind)),
        "\", \"handle\": \"0x", absl::Hex(resource->handle),
        "\", \"name\": ", Quoted(shard.strings.Get(resource->name)));
    if (resource->domain != model::kEmptyName) {
      absl::StrAppend(
          &json, ", \"domain\": ", Quoted(shard.strings.Get(resource->domain)));
    }
    json += '}';
  }
  shard.metadata.push_back({.key = shard.strings.Intern("named_resources"),
                            .json_value = shard.strings.Intern(json + "]")});
}

}  // namespace kymo::cpu
