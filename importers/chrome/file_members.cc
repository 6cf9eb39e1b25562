#include "importers/chrome/file_members.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <simdjson.h>

#include "importers/chrome/json/decimal.h"

namespace kymo::chrome_import {
namespace {

using model::Loss;

// Losses that normalisation finds again by itself.
bool IsFoundAgain(Loss loss) {
  return loss == Loss::kRangesOpenAtEnd || loss == Loss::kRangesOverlapping ||
         loss == Loss::kFreesNotSeen;
}

// The parts of counters. `counts`: of all counters; what remains of it when the
// parts are taken.
void AddParts(simdjson::dom::array parts, std::span<uint64_t> counts,
              model::LossLedger& ledger) {
  for (const simdjson::dom::element element : parts) {
    std::string_view name;
    std::string_view of;
    std::string_view what;
    uint64_t count = 0;
    if (element["loss"].get(name) != simdjson::SUCCESS ||
        element["of"].get(of) != simdjson::SUCCESS ||
        element["what"].get(what) != simdjson::SUCCESS ||
        element["count"].get(count) != simdjson::SUCCESS) {
      continue;
    }
    for (size_t i = 0; i < counts.size(); ++i) {
      const Loss loss = static_cast<Loss>(i);
      if (model::LossName(loss) != name || count > counts[i]) continue;
      counts[i] -= count;
      ledger.AddPart({loss, std::string(of), std::string(what)}, count);
    }
  }
}

void AddLedger(std::string_view json, model::LossLedger& ledger) {
  simdjson::dom::parser parser;
  simdjson::dom::object entries;
  if (parser.parse(json.data(), json.size()).get(entries) !=
      simdjson::SUCCESS) {
    return;
  }
  std::array<uint64_t, static_cast<size_t>(Loss::kCount)> counts{};
  for (size_t i = 0; i < counts.size(); ++i) {
    const Loss loss = static_cast<Loss>(i);
    uint64_t count = 0;
    if (!IsFoundAgain(loss) &&
        entries[model::LossName(loss)].get(count) == simdjson::SUCCESS) {
      counts[i] = count;
    }
  }
  simdjson::dom::array parts;
  if (entries["parts"].get(parts) == simdjson::SUCCESS) {
    AddParts(parts, counts, ledger);
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    ledger.Add(static_cast<Loss>(i), counts[i]);
  }
}

std::string_view WithoutQuotes(std::string_view json) {
  const bool is_quoted = json.size() >= 2 && json.front() == '"';
  return is_quoted ? json.substr(1, json.size() - 2) : json;
}

}  // namespace

bool FileMembers::Add(std::string_view key, std::string_view json,
                      model::TraceShard& shard) {
  static constexpr std::string_view kWrittenAnew[] = {"displayTimeUnit",
                                                      "traceName"};
  if (key == "schemaVersion") {
    // Others have one, too, but Kineto's is a number.
    is_kineto = ParseInt(json).has_value();
  } else if (key == "baseTimeNanoseconds") {
    // The least number has no negative.
    base_ns = std::max(ParseInt(WithoutQuotes(json)).value_or(0),
                       -std::numeric_limits<TimeNs>::max());
  } else if (key == "kymo_loss_ledger") {
    is_kymo = true;
    AddLedger(json, shard.ledger);
  } else if (key.starts_with(kExactRecords)) {
    exact.Add(json, shard);
  } else if (key == "kymo_heap_records_left_out") {
    lacks_heap_records = true;
    shard.ledger.Add(Loss::kMemoryRecordsLeftOut,
                     static_cast<uint64_t>(
                         std::max<int64_t>(ParseInt(json).value_or(0), 0)));
  } else if (std::find(std::begin(kWrittenAnew), std::end(kWrittenAnew), key) ==
             std::end(kWrittenAnew)) {
    const model::Metadata entry = {.key = shard.strings.Intern(key),
                                   .json_value = shard.strings.Intern(json)};
    const auto [place, is_new] =
        place_of_key.try_emplace(entry.key, shard.metadata.size());
    if (!is_new) {
      shard.metadata[place->second] = entry;
      return false;
    }
    shard.metadata.push_back(entry);
  }
  return true;
}

}  // namespace kymo::chrome_import
