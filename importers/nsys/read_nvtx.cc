#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "importers/nsys/nsys_file.h"
#include "profiler/base/strings.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"

namespace kymo::nsys {
namespace {

using model::ActivityType;
using model::NameId;
using sqlite::kRequired;
using sqlite::Rows;

// The numbers of eventType: the usual ones, unless the file has others.
struct EventTypes {
  int64_t category = 33;
  int64_t mark = 34;
  int64_t push_pop = 59;
  int64_t start_end = 60;
  int64_t imported_push_pop = 70;
  int64_t imported_start_end = 71;
  int64_t domain = 75;

  explicit EventTypes(File& file) {
    enum { kId, kName };
    Rows table = file.db.Read("ENUM_NSYS_EVENT_TYPE",
                              {{"id", kRequired}, {"name", kRequired}},
                              file.rows.findings());
    while (table.Next()) {
      const std::optional<int64_t> id = table.Int(kId);
      if (id.has_value()) Set(table.Text(kName), *id);
    }
  }

  void Set(std::string_view name, int64_t id) {
    if (name == "NvtxCategory") category = id;
    if (name == "NvtxMark") mark = id;
    if (name == "NvtxPushPopRange") push_pop = id;
    if (name == "NvtxStartEndRange") start_end = id;
    if (name == "NvtxtPushPopRange") imported_push_pop = id;
    if (name == "NvtxtStartEndRange") imported_start_end = id;
    if (name == "NvtxDomainCreate") domain = id;
  }

  bool IsNested(int64_t type) const {
    return type == push_pop || type == imported_push_pop;
  }
  bool IsAcross(int64_t type) const {
    return type == start_end || type == imported_start_end;
  }
};

enum {
  kEventStart,
  kEventEnd,
  kType,
  kText,
  kTextId,
  kGlobalTid,
  kDomain,
  kCategory,
  kPayloads
};

struct Payload {
  const char* column;
  bool is_integer;
};
// The first column that is not NULL counts.
constexpr Payload kPayloadColumns[] = {
    {"uint64Value", true}, {"int64Value", true},   {"uint32Value", true},
    {"int32Value", true},  {"doubleValue", false}, {"floatValue", false}};

class NvtxReader {
 public:
  explicit NvtxReader(File& file) : file_(file), types_(file) {}

  void Run() {
    // Names first: a domain or category may be named behind the events that use
    // it.
    sqlite::Findings found_again;
    for (Rows table = Read(found_again); table.Next();) ReadName(table);
    for (Rows table = Read(file_.rows.findings()); table.Next();) {
      ReadEvent(table);
    }
  }

 private:
  // A domain is (process, id); a category is (domain, id).
  using DomainKey = std::pair<int64_t, int64_t>;
  using CategoryKey = std::pair<DomainKey, int64_t>;

  Rows Read(sqlite::Findings& findings) const {
    return file_.db.Read("NVTX_EVENTS",
                         {{"start", kRequired},
                          {"end"},
                          {"eventType", kRequired},
                          {"text"},
                          {"textId"},
                          {"globalTid", kRequired},
                          {"domainId"},
                          {"category"},
                          {kPayloadColumns[0].column},
                          {kPayloadColumns[1].column},
                          {kPayloadColumns[2].column},
                          {kPayloadColumns[3].column},
                          {kPayloadColumns[4].column},
                          {kPayloadColumns[5].column}},
                         findings);
  }

  // A registered text has an id. Any other text is in the row.
  NameId TextOf(Rows& table) const {
    const std::string_view text = table.Text(kText);
    if (!text.empty()) return file_.rows.Intern(text);
    const std::optional<int64_t> id = table.Int(kTextId);
    return id.has_value() ? file_.StringOf(id) : model::kEmptyName;
  }

  static DomainKey DomainOf(Rows& table) {
    return {ThreadOf(table.IntOr(kGlobalTid, 0)).pid, table.IntOr(kDomain, 0)};
  }

  void ReadName(Rows& table) {
    const int64_t type = table.IntOr(kType, 0);
    if (type == types_.domain) domains_[DomainOf(table)] = TextOf(table);
    if (type == types_.category) {
      categories_[{DomainOf(table), table.IntOr(kCategory, 0)}] = TextOf(table);
    }
  }

  void ReadEvent(Rows& table) {
    const int64_t type = table.IntOr(kType, 0);
    const bool is_mark = type == types_.mark;
    const bool is_across = types_.IsAcross(type);
    if (!is_mark && !is_across && !types_.IsNested(type)) return;
    const ThreadId thread = ThreadOf(table.IntOr(kGlobalTid, 0));
    AddArgs(table);
    file_.rows.Add(
        file_.rows.Thread(thread.pid, thread.tid),
        {.start_ns = table.Int(kEventStart),
         .end_ns = table.Int(kEventEnd),
         .name = TextOf(table),
         .type = is_mark ? ActivityType::kCpuInstantEvent
                         : ActivityType::kNvtxRange,
         .flags = static_cast<uint8_t>(is_mark     ? model::kEventInstant
                                       : is_across ? model::kEventAsync
                                                   : 0)});
  }

  void AddArgs(Rows& table) {
    const DomainKey domain = DomainOf(table);
    const auto known_domain = domains_.find(domain);
    const std::optional<int64_t> category = table.Int(kCategory);
    const bool has_category = category.value_or(0) != 0;
    size_t payload = 0;
    while (payload < std::size(kPayloadColumns) &&
           !table.Double(kPayloads + payload).has_value()) {
      ++payload;
    }
    const bool has_payload = payload < std::size(kPayloadColumns);
    if (known_domain == domains_.end() && !has_category && !has_payload) return;
    file_.rows.BeginDetail(0);
    if (known_domain != domains_.end()) {
      file_.rows.AddArg("domain", file_.rows.Name(known_domain->second));
    }
    if (has_category) AddCategory({domain, *category});
    if (has_payload) AddPayload(table, payload);
  }

  void AddCategory(const CategoryKey& key) {
    const auto name = categories_.find(key);
    if (name == categories_.end()) {
      file_.rows.AddArg("category", key.second);
    } else {
      file_.rows.AddArg("category", file_.rows.Name(name->second));
    }
  }

  void AddPayload(Rows& table, size_t payload) {
    const size_t column = kPayloads + payload;
    if (kPayloadColumns[payload].is_integer) {
      file_.rows.AddArg("payload", table.IntOr(column, 0));
    } else {
      file_.rows.AddArg("payload", table.Double(column).value_or(0));
    }
  }

  File& file_;
  const EventTypes types_;
  absl::flat_hash_map<DomainKey, NameId> domains_;
  absl::flat_hash_map<CategoryKey, NameId> categories_;
};

}  // namespace

void ReadNvtx(File& file) { NvtxReader(file).Run(); }

}  // namespace kymo::nsys
