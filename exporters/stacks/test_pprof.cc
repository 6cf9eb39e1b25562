#include "exporters/stacks/test_pprof.h"

#include <algorithm>
#include <cstddef>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/stacks/profile.pb.h"
#include "profiler/text/utf8.h"
#include "tests/support/test_gzip.h"

namespace kymo::stacks {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& bytes) {
    EXPECT_TRUE(file_.ParseFromString(bytes));
    const size_t known_and_unknown = file_.ByteSizeLong();
    file_.DiscardUnknownFields();
    EXPECT_EQ(file_.ByteSizeLong(), known_and_unknown) << "unknown fields";
  }

  DecodedProfile Read() {
    EXPECT_EQ(Text(0), "");
    for (const std::string& text : file_.string_table()) {
      std::string scratch;
      EXPECT_EQ(json::ToUtf8(text, scratch).data(), text.data()) << text;
    }
    Index(file_.mapping(), mappings_);
    Index(file_.function(), functions_);
    Index(file_.location(), locations_);
    ReadHead();
    for (const auto& location : file_.location()) ReadPlace(location);
    for (const auto& sample : file_.sample()) ReadSample(sample);
    return std::move(profile_);
  }

 private:
  template <typename Entries, typename Entry>
  static void Index(const Entries& entries,
                    std::map<uint64_t, const Entry*>& by_id) {
    for (const auto& entry : entries) {
      EXPECT_NE(entry.id(), 0u);
      EXPECT_TRUE(by_id.emplace(entry.id(), &entry).second) << entry.id();
    }
  }

  const std::string& Text(int64_t id) const {
    static const std::string* const kNone = new std::string();
    EXPECT_LT(id, file_.string_table_size());
    return id < file_.string_table_size()
               ? file_.string_table(static_cast<int>(id))
               : *kNone;
  }

  std::string TypeText(const schema::ValueType& type) const {
    return Text(type.type()) + "/" + Text(type.unit());
  }

  void ReadHead() {
    for (const auto& type : file_.sample_type()) {
      profile_.types.push_back(TypeText(type));
    }
    EXPECT_FALSE(profile_.types.empty());
    profile_.default_type = Text(file_.default_sample_type());
    profile_.time_ns = file_.time_nanos();
    for (const auto& mapping : file_.mapping()) {
      profile_.modules.push_back(Text(mapping.filename()));
    }
    profile_.duration_ns = file_.duration_nanos();
    if (file_.has_period_type()) {
      profile_.period =
          absl::StrCat(TypeText(file_.period_type()), " ", file_.period());
    }
  }

  const schema::Function& FunctionOf(const schema::Location& location) const {
    EXPECT_EQ(location.line_size(), 1);
    return *functions_.at(location.line(0).function_id());
  }

  void ReadPlace(const schema::Location& location) {
    const schema::Function& function = FunctionOf(location);
    std::string place =
        absl::StrCat(Text(function.filename()), ":", location.line(0).line());
    if (location.mapping_id() != 0) {
      const schema::Mapping& mapping = *mappings_.at(location.mapping_id());
      EXPECT_TRUE(mapping.has_functions() && mapping.has_filenames() &&
                  mapping.has_line_numbers() && mapping.has_inline_frames());
      absl::StrAppend(&place, " ", Text(mapping.filename()), " ",
                      location.address());
    }
    const std::string name = Text(function.name());
    EXPECT_EQ(Text(function.system_name()), name.starts_with('<') ? "" : name);
    profile_.places[name].push_back(place);
  }

  void ReadSample(const schema::Sample& sample) {
    DecodedProfile::Sample decoded;
    for (int i = sample.location_id_size(); i-- > 0;) {
      const auto location = locations_.find(sample.location_id(i));
      ASSERT_TRUE(location != locations_.end()) << sample.location_id(i);
      absl::StrAppend(&decoded.stack, decoded.stack.empty() ? "" : ";",
                      Text(FunctionOf(*location->second).name()));
    }
    for (const auto& label : sample.label()) {
      absl::StrAppend(&decoded.labels, decoded.labels.empty() ? "" : " ",
                      Text(label.key()), "=", Text(label.str()));
    }
    decoded.values.assign(sample.value().begin(), sample.value().end());
    EXPECT_EQ(decoded.values.size(), profile_.types.size());
    profile_.samples.push_back(std::move(decoded));
  }

  schema::Profile file_;
  DecodedProfile profile_;
  std::map<uint64_t, const schema::Mapping*> mappings_;
  std::map<uint64_t, const schema::Function*> functions_;
  std::map<uint64_t, const schema::Location*> locations_;
};

// The position of "cpu" in "cpu/nanoseconds", ...
size_t PositionOf(const DecodedProfile& profile, const std::string& type) {
  for (size_t i = 0; i < profile.types.size(); ++i) {
    if (profile.types[i].starts_with(type + "/")) return i;
  }
  ADD_FAILURE() << "no type " << type;
  return 0;
}

}  // namespace

std::vector<std::string> DecodedProfile::Lines(const std::string& type) const {
  const size_t position = PositionOf(*this, type);
  std::vector<std::string> lines;
  for (const Sample& sample : samples) {
    if (sample.values[position] == 0) continue;
    lines.push_back(absl::StrCat(sample.stack, " ", sample.values[position],
                                 " ", sample.labels));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

int64_t DecodedProfile::Total(const std::string& type) const {
  const size_t position = PositionOf(*this, type);
  int64_t total = 0;
  for (const Sample& sample : samples) total += sample.values[position];
  return total;
}

DecodedProfile ReadProfile(const std::string& gzip) {
  return Reader(Unzip(gzip)).Read();
}

}  // namespace kymo::stacks
