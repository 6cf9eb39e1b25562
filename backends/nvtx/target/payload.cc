#include "backends/nvtx/target/payload.h"

#include <string.h>

#include <string_view>

#include "backends/nvtx/target/payload_scalar.h"

namespace kymo::nvtx {
namespace {

using record::ForeignText;

constinit Key text_payload_key("payload");

constexpr int kMaxNesting = 4;
constexpr size_t kMaxShownElements = 64;
// The longest number (24) with its comma, and ", ...]".
constexpr size_t kElementBytes = 32;

// Reads one blob, entry by entry.
class BlobReader {
 public:
  BlobReader(const Domain& domain, const PayloadData& data, EventArgs& args,
             record::ForeignName* message) noexcept
      : domain_(domain),
        base_(static_cast<const char*>(data.data)),
        size_(data.size),
        args_(args),
        message_(message) {}

  // False if the place of the data behind it cannot be found.
  bool ReadSchema(const Schema& schema, size_t at, std::string_view outer,
                  int nesting, size_t* end) noexcept {
    size_t next = at;
    for (size_t i = 0; i < schema.field_count; ++i) {
      const Field& field = schema.fields[i];
      if (!ReadField(field, schema, at, &next, outer, nesting)) return false;
    }
    *end = schema.static_size != 0 ? at + schema.static_size : next;
    return true;
  }

  // Reads a payload that is a single value of `type`.
  void ReadValue(uint64_t type, uint32_t key) noexcept {
    const Scalar scalar = ScalarOf(type);
    if (IsText(type)) {
      // By the interface, the payload itself is the text here.
      args_.AddText(key, {base_, strnlen(base_, size_)});
    } else if (scalar.form != Form::kOther && scalar.size <= size_) {
      AddScalar(key, type, scalar, ReadBits(scalar, base_));
    } else {
      args_.AddText(key, "(not shown)");
    }
  }

 private:
  static bool IsText(uint64_t type) noexcept {
    return type == kTypeCstring || type == kTypeCstringUtf8;
  }

  bool Fits(size_t at, size_t bytes) const noexcept {
    return bytes <= size_ && at <= size_ - bytes;
  }

  // Aligns as a compiler would, or as the schema packs its entries.
  static size_t Aligned(size_t at, size_t alignment, size_t pack) noexcept {
    if (pack != 0 && pack < alignment) alignment = pack;
    return alignment <= 1 ? at : (at + alignment - 1) / alignment * alignment;
  }

  uint32_t KeyOfField(const Field& field, std::string_view outer) noexcept {
    if (outer.empty() && field.name != nullptr) {
      const uint32_t id = record::ForeignId(field.name);
      return id != record::kNameInPayload ? id : record::kNameLost;
    }
    char text[256];
    size_t size = 0;
    auto append = [&](std::string_view part) {
      for (const char c : part) {
        if (size < sizeof(text)) text[size++] = c;
      }
    };
    append(outer);
    if (!outer.empty()) append(".");
    append(field.name != nullptr
               ? std::string_view(field.name->text, field.name->size)
               : "entry");
    ForeignText* const key = record::AddForeignText({text, size});
    if (key == nullptr) return record::kNameLost;
    const uint32_t id = record::ForeignId(key);
    return id != record::kNameInPayload ? id : record::kNameLost;
  }

  bool ReadField(const Field& field, const Schema& schema, size_t begin,
                 size_t* next, std::string_view outer, int nesting) noexcept {
    if (field.type >= kTypeFirstSchema) {
      return ReadNested(field, schema, begin, next, outer, nesting);
    }
    const uint32_t key = KeyOfField(field, outer);
    if (IsText(field.type) && field.detail != 0 &&
        (field.flags & kEntryArrayMask & ~kEntryArrayFixed) == 0) {
      return ReadEmbeddedText(field, begin, next, key);
    }
    Scalar scalar = ScalarOf(field.type);
    if ((field.flags & kEntryIsPointer) != 0) scalar = {Form::kAddress, 8};
    constexpr uint64_t kOffsets = kEntryOffsetFromBase | kEntryOffsetFromHere;
    const uint64_t array = field.flags & kEntryArrayMask;
    const bool is_fixed =
        array == kEntryArrayFixed && (field.flags & kEntryIsPointer) == 0;
    if (scalar.form == Form::kOther || (field.flags & kOffsets) != 0 ||
        (array != 0 && !is_fixed && scalar.form != Form::kAddress)) {
      args_.AddText(key, "(not shown)");
      return false;
    }
    const size_t at = field.offset != 0
                          ? begin + field.offset
                          : Aligned(*next, scalar.size, schema.pack_align);
    const size_t count = is_fixed ? field.detail : 1;
    if (count > size_ || !Fits(at, count * scalar.size)) return false;
    *next = at + count * scalar.size;
    if (is_fixed) {
      AddArray(key, scalar, at, count);
    } else if ((field.flags & kEntryIsPointer) != 0) {
      AddAddress(key, ReadBits(scalar, base_ + at));
    } else if ((field.flags & kEntryIsMessage) != 0) {
      SetMessage(field.type, ReadBits(scalar, base_ + at));
    } else {
      AddScalar(key, field.type, scalar, ReadBits(scalar, base_ + at));
    }
    return true;
  }

  bool ReadEmbeddedText(const Field& field, size_t begin, size_t* next,
                        uint32_t key) noexcept {
    const size_t at = field.offset != 0 ? begin + field.offset : *next;
    if (!Fits(at, field.detail)) return false;
    *next = at + field.detail;
    const std::string_view text(base_ + at, strnlen(base_ + at, field.detail));
    if ((field.flags & kEntryIsMessage) != 0) {
      *message_ = {record::kNameInPayload, text};
    } else {
      args_.AddText(key, text);
    }
    return true;
  }

  bool ReadNested(const Field& field, const Schema& schema, size_t begin,
                  size_t* next, std::string_view outer, int nesting) noexcept {
    const uint32_t key = KeyOfField(field, outer);
    const Schema* const inner = domain_.FindSchema(field.type);
    if (inner == nullptr || field.flags & kEntryArrayMask ||
        nesting == kMaxNesting) {
      args_.AddText(key, "(not shown)");
      return false;
    }
    if (inner->is_enum) {
      const size_t size = inner->static_size;
      const Scalar scalar = {Form::kUnsigned, size};
      const size_t at = field.offset != 0
                            ? begin + field.offset
                            : Aligned(*next, size, schema.pack_align);
      if (size > 8 || !Fits(at, size)) return false;
      *next = at + size;
      AddEnum(key, *inner, ReadBits(scalar, base_ + at));
      return true;
    }
    const size_t at =
        field.offset != 0
            ? begin + field.offset
            : Aligned(*next, AlignmentOf(*inner, nesting), schema.pack_align);
    const std::string_view name =
        field.name != nullptr
            ? std::string_view(field.name->text, field.name->size)
            : "entry";
    return ReadSchema(*inner, at, name, nesting + 1, next);
  }

  size_t AlignmentOf(const Schema& schema, int nesting) const noexcept {
    if (schema.is_enum) return schema.static_size;
    size_t alignment = 1;
    for (size_t i = 0; i < schema.field_count; ++i) {
      const Field& field = schema.fields[i];
      size_t own = ScalarOf(field.type).size;
      if (field.flags & kEntryIsPointer) own = 8;
      if (IsText(field.type) && field.detail != 0) own = 1;
      if (field.type >= kTypeFirstSchema && nesting < kMaxNesting) {
        const Schema* const inner = domain_.FindSchema(field.type);
        own = inner == nullptr ? 1 : AlignmentOf(*inner, nesting + 1);
      }
      if (own > alignment) alignment = own;
    }
    if (schema.pack_align != 0 && schema.pack_align < alignment) {
      alignment = schema.pack_align;
    }
    return alignment;
  }

  void SetMessage(uint64_t type, uint64_t bits) noexcept {
    void* const pointer = reinterpret_cast<void*>(bits);
    if (IsText(type)) {
      *message_ = record::NameOf(static_cast<const char*>(pointer));
    } else if (ForeignText* const text = TextOf(pointer)) {
      *message_ = record::NameOf(text);
    }
  }

  void AddScalar(uint32_t key, uint64_t type, Scalar scalar,
                 uint64_t bits) noexcept {
    if (type == kTypeCategory) {
      if (ForeignText* const name =
              domain_.CategoryName(static_cast<uint32_t>(bits))) {
        return args_.AddNamed(key, name);
      }
    }
    switch (scalar.form) {
      case Form::kSigned:
        return args_.AddInt(key, static_cast<int64_t>(bits));
      case Form::kUnsigned:
        return args_.AddUint(key, bits);
      case Form::kFloat:
        return args_.AddDouble(key, AsDouble(scalar, bits));
      case Form::kCharacter: {
        const char c = static_cast<char>(bits);
        args_.Begin();
        args_.Append({&c, 1});
        return args_.AddText(key, args_.Appended());
      }
      default:
        return AddPointer(key, type, bits);
    }
  }

  void AddPointer(uint32_t key, uint64_t type, uint64_t bits) noexcept {
    void* const pointer = reinterpret_cast<void*>(bits);
    if (IsText(type) && pointer != nullptr) {
      return args_.AddText(key, static_cast<const char*>(pointer));
    }
    ForeignText* const text =
        type == kTypeRegisteredString ? TextOf(pointer) : nullptr;
    if (text != nullptr) return args_.AddNamed(key, text);
    AddAddress(key, bits);
  }

  void AddAddress(uint32_t key, uint64_t bits) noexcept {
    char digits[18] = {'0', 'x'};
    for (int i = 0; i < 16; ++i) {
      digits[2 + i] = "0123456789abcdef"[bits >> (60 - 4 * i) & 15];
    }
    args_.Begin();
    args_.Append({digits, sizeof(digits)});
    args_.AddText(key, args_.Appended());
  }

  void AddArray(uint32_t key, Scalar scalar, size_t at, size_t count) noexcept {
    if (scalar.form == Form::kCharacter) {
      return args_.AddText(key, {base_ + at, strnlen(base_ + at, count)});
    }
    args_.Begin();
    args_.Append("[");
    size_t i = 0;
    for (; i < count && i < kMaxShownElements && args_.room() >= kElementBytes;
         ++i) {
      if (i != 0) args_.Append(", ");
      const uint64_t bits = ReadBits(scalar, base_ + at + i * scalar.size);
      if (scalar.form == Form::kFloat) {
        args_.AppendNumber(AsDouble(scalar, bits));
      } else if (scalar.form == Form::kSigned) {
        args_.AppendNumber(static_cast<int64_t>(bits));
      } else {
        args_.AppendNumber(bits);
      }
    }
    if (i < count) args_.Append(i == 0 ? "..." : ", ...");
    args_.Append("]");
    args_.AddText(key, args_.Appended());
  }

  void AddEnum(uint32_t key, const Schema& names, uint64_t value) noexcept {
    for (size_t i = 0; i < names.field_count; ++i) {
      const Field& entry = names.fields[i];
      if (entry.value == value && entry.name != nullptr) {
        return args_.AddNamed(key, entry.name);
      }
    }
    args_.Begin();
    for (size_t i = 0; i < names.field_count; ++i) {
      const Field& entry = names.fields[i];
      if (entry.flags == 0 || entry.value == 0 || entry.name == nullptr ||
          (value & entry.value) != entry.value) {
        continue;
      }
      if (!args_.Appended().empty()) args_.Append("|");
      args_.Append({entry.name->text, entry.name->size});
      value &= ~entry.value;
    }
    if (args_.Appended().empty()) return args_.AddUint(key, value);
    if (value != 0) {
      args_.Append("|");
      args_.AppendNumber(value);
    }
    args_.AddText(key, args_.Appended());
  }

  const Domain& domain_;
  const char* const base_;
  const size_t size_;
  EventArgs& args_;
  record::ForeignName* const message_;
};

}  // namespace

void AddPayloads(const Domain& domain, const PayloadData* data, size_t count,
                 EventArgs& args, record::ForeignName* message) noexcept {
  for (size_t i = 0; data != nullptr && i < count; ++i) {
    PayloadData blob = data[i];
    if (blob.data == nullptr || blob.schema == kSchemaReferenced) continue;
    const Schema* const schema = domain.FindSchema(blob.schema);
    if (blob.size == ~size_t{0} && schema != nullptr) {
      blob.size = schema->static_size;
    }
    BlobReader reader(domain, blob, args, message);
    if (schema != nullptr && !schema->is_enum) {
      size_t end = 0;
      reader.ReadSchema(*schema, 0, {}, 0, &end);
    } else if (blob.schema < kSchemaReferenced && blob.size != ~size_t{0}) {
      reader.ReadValue(blob.schema, text_payload_key.id());
    } else {
      args.Begin();
      args.AppendNumber(uint64_t{blob.size});
      args.Append(" bytes");
      args.AddText(text_payload_key.id(), args.Appended());
    }
  }
}

}  // namespace kymo::nvtx
