#include "importers/chrome/events/event_parser.h"

#include <cstddef>
#include <string>
#include <utility>

#include <simdjson.h>

#include "importers/chrome/events/event_builder.h"
#include "importers/chrome/events/raw_event.h"
#include "importers/chrome/json/json_value.h"

namespace kymo::chrome_import {
namespace {

namespace ondemand = simdjson::ondemand;

bool ReadArgs(ondemand::value value, RawEvent& event) {
  ondemand::object args;
  if (value.get_object().get(args) != simdjson::SUCCESS) return false;
  for (auto member : args) {
    ondemand::field field;
    if (std::move(member).get(field) != simdjson::SUCCESS) return false;
    RawArg& arg = event.args.emplace_back();
    arg.key = KeyText(field.key());
    if (!ReadValue(field.value(), arg.value)) return false;
  }
  return true;
}

// How to treat a member of an event.
enum class Member : uint8_t {
  kPhase,
  kName,
  kCategory,
  kPid,
  kTid,
  kTime,
  kDuration,
  kId,
  kId2,
  kArgs,
  kScope,
  kSilent,  // not needed, and its absence is no loss
  kUnknown,
};

Member FindMember(std::string_view key) {
  switch (key.size()) {
    case 1:
      return key == "s" ? Member::kSilent : Member::kUnknown;
    case 2:
      if (key == "ph") return Member::kPhase;
      if (key == "ts") return Member::kTime;
      if (key == "id") return Member::kId;
      return key == "bp" ? Member::kSilent : Member::kUnknown;
    case 3:
      if (key == "cat") return Member::kCategory;
      if (key == "pid") return Member::kPid;
      if (key == "tid") return Member::kTid;
      if (key == "dur") return Member::kDuration;
      return key == "id2" ? Member::kId2 : Member::kUnknown;
    case 4:
      if (key == "name") return Member::kName;
      return key == "args" ? Member::kArgs : Member::kUnknown;
    case 5:
      return key == "scope" ? Member::kScope : Member::kUnknown;
    default:
      return Member::kUnknown;
  }
}

void NoteMember(Member member, RawEvent& event) {
  if (member >= Member::kSilent) return;
  const auto bit = static_cast<uint16_t>(1u << static_cast<unsigned>(member));
  event.repeated_members += (event.seen_members & bit) != 0;
  event.seen_members |= bit;
}

bool ReadMember(std::string_view key, ondemand::value value, RawEvent& event) {
  const Member member = FindMember(key);
  NoteMember(member, event);
  if (member == Member::kArgs) {
    if (value.raw_json_token().substr(0, 1) == "{") {
      return ReadArgs(value, event);
    }
    ++event.unreadable_members;
    JsonValue ignored;
    return ReadValue(value, ignored);
  }
  JsonValue read;
  if (!ReadValue(value, read)) return false;
  const auto take_text = [&](JsonValue& to) {
    if (read.kind == JsonValue::Kind::kNested) {
      ++event.unreadable_members;
    } else {
      to = read;
    }
  };
  switch (member) {
    case Member::kPhase:
      event.phase =
          read.is_string() && read.text.size() == 1 ? read.text[0] : 0;
      break;
    case Member::kName:
      take_text(event.name);
      break;
    case Member::kCategory:
      take_text(event.category);
      break;
    case Member::kPid:
      take_text(event.pid);
      break;
    case Member::kTid:
      take_text(event.tid);
      break;
    case Member::kTime:
      event.time = read;
      event.has_time = true;
      break;
    case Member::kDuration:
      event.duration = read;
      event.has_duration = true;
      break;
    case Member::kId:
    case Member::kId2:
      event.id = read;
      break;
    case Member::kScope:
      event.scope = read;
      break;
    case Member::kUnknown:
      ++event.ignored_members;
      break;
    case Member::kArgs:
    case Member::kSilent:
      break;
  }
  return true;
}

}  // namespace

class EventParser::Impl {
 public:
  bool Parse(std::string_view elements, uint64_t offset, ParsedEvents& out) {
    const ParseResult result = ParseList(elements, offset, out);
    if (result != ParseResult::kBadStrings) return result == ParseResult::kGood;
    const std::string repaired = RepairJson(elements);
    out.findings.Add(Rule::kTextRepaired, offset);
    return ParseList(repaired, offset, out) == ParseResult::kGood;
  }

 private:
  enum class ParseResult { kGood, kBad, kBadStrings };

  ParseResult ParseList(std::string_view elements, uint64_t offset,
                        ParsedEvents& out) {
    const size_t length = elements.size() + 2;
    text_.reserve(length + simdjson::SIMDJSON_PADDING);
    text_.assign(1, '[');
    text_ += elements;
    text_ += ']';
    text_.append(simdjson::SIMDJSON_PADDING, ' ');
    ondemand::document document;
    const simdjson::error_code error =
        parser_
            .iterate(text_.data(), length, length + simdjson::SIMDJSON_PADDING)
            .get(document);
    if (error == simdjson::UTF8_ERROR || error == simdjson::UNESCAPED_CHARS) {
      return ParseResult::kBadStrings;
    }
    ondemand::array list;
    if (error != simdjson::SUCCESS ||
        document.get_array().get(list) != simdjson::SUCCESS) {
      return ParseResult::kBad;
    }
    // Text behind the list means that the stretch was cut at a wrong place.
    const bool is_whole =
        ReadElements(list, offset, out) &&
        document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    return is_whole ? ParseResult::kGood : ParseResult::kBad;
  }

  bool ReadElements(ondemand::array& list, uint64_t offset, ParsedEvents& out) {
    EventBuilder builder(out);
    for (auto element : list) {
      ondemand::value value;
      ondemand::object object;
      if (std::move(element).get(value) != simdjson::SUCCESS) return false;
      event_.Clear();
      event_.offset =
          offset + static_cast<uint64_t>(value.raw_json_token().data() -
                                         (text_.data() + 1));
      if (value.get_object().get(object) != simdjson::SUCCESS) return false;
      for (auto member : object) {
        ondemand::field field;
        if (std::move(member).get(field) != simdjson::SUCCESS) return false;
        if (!ReadMember(KeyText(field.key()), field.value(), event_)) {
          return false;
        }
      }
      builder.Add(event_);
    }
    return true;
  }

  ondemand::parser parser_;
  std::string text_;
  RawEvent event_;
};

EventParser::EventParser() : impl_(std::make_unique<Impl>()) {}
EventParser::~EventParser() = default;

bool EventParser::Parse(std::string_view elements, uint64_t offset,
                        ParsedEvents& out) {
  return impl_->Parse(elements, offset, out);
}

}  // namespace kymo::chrome_import
