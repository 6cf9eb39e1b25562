#include "backends/nvtx/target/domain.h"

namespace kymo::nvtx {

using record::AddForeignText;
using record::AllocateForeign;
using record::ForeignText;

constinit Domain default_domain = {};

namespace {

constinit std::atomic<Domain*> domains = nullptr;
constinit std::atomic<uint64_t> next_schema{kFirstDynamicSchema};

// More fields than this are a mistake, not a schema.
constexpr size_t kMaxFields = 4096;

template <typename Node>
void Prepend(std::atomic<Node*>& list, Node* node) noexcept {
  node->next = list.load(std::memory_order_relaxed);
  // Release: whoever finds the entry finds it complete.
  while (!list.compare_exchange_weak(
      node->next, node, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

ForeignText* NameOrNull(const char* text) noexcept {
  return text == nullptr ? nullptr : AddForeignText(text);
}

Schema* NewSchema(uint64_t fields, uint64_t has_id, uint64_t given_id,
                  uint64_t others_id, size_t field_count) noexcept {
  if (field_count > kMaxFields) return nullptr;
  auto* const schema = static_cast<Schema*>(
      AllocateForeign(sizeof(Schema) + field_count * sizeof(Field)));
  if (schema == nullptr) return nullptr;
  schema->field_count = field_count;
  if (others_id != 0) {
    schema->id = others_id;
  } else if ((fields & has_id) != 0 && given_id != 0) {
    schema->id = given_id;
  } else {
    schema->id = next_schema.fetch_add(1, std::memory_order_relaxed);
  }
  return schema;
}

}  // namespace

void Domain::NameCategory(uint32_t id, ForeignText* text) noexcept {
  if (text == nullptr || CategoryName(id) == text) return;
  auto* const category =
      static_cast<Category*>(AllocateForeign(sizeof(Category)));
  if (category == nullptr) return;
  category->id = id;
  category->name = text;
  Prepend(categories[id % kPlaces], category);
}

const Schema* Domain::FindSchema(uint64_t id) const noexcept {
  const Schema* at = schemas[id % kPlaces].load(std::memory_order_acquire);
  while (at != nullptr && at->id != id) at = at->next;
  return at;
}

void Domain::AddSchema(Schema* schema) noexcept {
  Prepend(schemas[schema->id % kPlaces], schema);
}

Domain* AddDomain(std::string_view name) noexcept {
  ForeignText* const text = AddForeignText(name);
  if (text == nullptr) return nullptr;
  for (Domain* at = domains.load(std::memory_order_acquire); at != nullptr;
       at = at->next) {
    if (at->name == text) return at;
  }
  auto* const domain = static_cast<Domain*>(AllocateForeign(sizeof(Domain)));
  if (domain == nullptr) return nullptr;
  domain->name = text;
  domain->mark = Domain::kMark;
  Prepend(domains, domain);
  return domain;
}

Domain* DomainOfOthers(Handle handle) noexcept {
  for (Domain* at = domains.load(std::memory_order_acquire); at != nullptr;
       at = at->next) {
    if (at->others.load(std::memory_order_relaxed) == handle) return at;
  }
  return &default_domain;
}

uint64_t RegisterSchema(Domain* domain, const SchemaAttributes* attributes,
                        uint64_t others_id) noexcept {
  if (attributes == nullptr || attributes->entries == nullptr) return 0;
  const uint64_t fields = attributes->fields;
  Schema* const schema = NewSchema(fields, kSchemaHasId, attributes->id,
                                   others_id, attributes->entry_count);
  if (schema == nullptr) return 0;
  if (fields & kSchemaHasName) schema->name = NameOrNull(attributes->name);
  if (fields & kSchemaHasStaticSize) {
    schema->static_size = attributes->static_size;
  }
  if (fields & kSchemaHasAlignment) schema->pack_align = attributes->pack_align;
  for (size_t i = 0; i < schema->field_count; ++i) {
    const SchemaEntry& entry = attributes->entries[i];
    schema->fields[i] = {.flags = entry.flags,
                         .type = entry.type,
                         .detail = entry.array_detail,
                         .offset = entry.offset,
                         .value = 0,
                         .name = NameOrNull(entry.name)};
  }
  domain->AddSchema(schema);
  return schema->id;
}

uint64_t RegisterEnum(Domain* domain, const EnumAttributes* attributes,
                      uint64_t others_id) noexcept {
  if (attributes == nullptr || attributes->entries == nullptr) return 0;
  Schema* const schema =
      NewSchema(attributes->fields, kEnumHasId, attributes->id, others_id,
                attributes->entry_count);
  if (schema == nullptr) return 0;
  schema->is_enum = true;
  schema->static_size =
      (attributes->fields & kEnumHasSize) ? attributes->size : sizeof(int);
  for (size_t i = 0; i < schema->field_count; ++i) {
    const EnumEntry& entry = attributes->entries[i];
    schema->fields[i].value = entry.value;
    schema->fields[i].flags = entry.is_flag != 0;
    schema->fields[i].name = NameOrNull(entry.name);
  }
  domain->AddSchema(schema);
  return schema->id;
}

}  // namespace kymo::nvtx
