#include "backends/stream/decode/resources.h"

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "profiler/record/arena/layout.h"
#include "profiler/text/json_text.h"

namespace kymo::stream {
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

}  // namespace

void AddResources(std::span<const Resource> resources,
                  model::TraceShard& shard) {
  std::map<std::tuple<int64_t, uint8_t, uint64_t>, const Resource*> last;
  for (const Resource& resource : resources) {
    last[{resource.pid, resource.kind, resource.handle}] = &resource;
  }
  if (last.empty()) return;
  std::string list;
  for (const auto& [key, resource] : last) {
    absl::StrAppend(
        &list, list.empty() ? "[" : ", ", "{\"process\": ", resource->pid,
        ", \"kind\": \"", std::string(KindName(resource->kind)),
        "\", \"handle\": \"0x", absl::Hex(resource->handle),
        "\", \"name\": ", json::JsonString(shard.strings.Get(resource->name)));
    if (resource->domain != model::kEmptyName) {
      absl::StrAppend(&list, ", \"domain\": ",
                      json::JsonString(shard.strings.Get(resource->domain)));
    }
    list += '}';
  }
  shard.metadata.push_back({.key = shard.strings.Intern("named_resources"),
                            .json_value = shard.strings.Intern(list + "]")});
}

}  // namespace kymo::stream
