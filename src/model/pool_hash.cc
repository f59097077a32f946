#include "model/pool_hash.h"

namespace karst::model {
namespace {

// FNV-1, 64 bits (multiply, then xor): http://www.isthe.com/chongo/tech/comp/fnv/
class Fnv {
 public:
  Fnv& bytes(std::string_view bytes) {
    for (const char byte : bytes) {
      hash_ *= 0x100000001b3u;
      hash_ ^= static_cast<unsigned char>(byte);
    }
    return *this;
  }
  Fnv& number(std::uint64_t value) {  // 8 bytes, little-endian
    for (int i = 0; i < 8; ++i, value >>= 8) {
      hash_ *= 0x100000001b3u;
      hash_ ^= value & 0xff;
    }
    return *this;
  }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

std::uint64_t hash_of(std::string_view text) {
  return Fnv().bytes(text).hash();
}
std::uint64_t hash_of(std::uint64_t number) {
  return Fnv().number(number).hash();
}
std::uint64_t pair_of(std::uint64_t a, std::uint64_t b) {
  return Fnv().number(a).number(b).hash();
}

// A Go struct: the name of its type, then its fields in any order but that of the calls, which is
// the order of declaration; the value is finished after each field.
class Struct {
 public:
  explicit Struct(std::string_view type) : hash_(hash_of(type)) {}
  void field(std::string_view name, std::uint64_t value) {
    hash_ = hash_of(hash_ ^ pair_of(hash_of(name), value));
  }
  void text(std::string_view name, std::string_view value) {
    if (!value.empty()) field(name, hash_of(value));
  }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_;
};

std::uint64_t hash_of(const Labels& labels) {
  std::uint64_t all = 0;
  for (const auto& [key, value] : labels) all ^= pair_of(hash_of(key), hash_of(value));
  return hash_of(all);
}

std::uint64_t hash_of(const std::vector<Taint>& taints) {
  std::uint64_t all = 0;
  for (const Taint& taint : taints) {
    Struct one("Taint");
    one.text("Key", taint.key);
    one.text("Value", taint.value);
    one.text("Effect", taint_effect_name(taint.effect));
    all ^= one.hash();
  }
  return all;
}

// A Go type that holds a duration in nanoseconds, which does not count when it is 0.
std::uint64_t hash_of_duration(std::string_view type, std::int64_t millis) {
  constexpr std::int64_t kNanosPerMilli = 1'000'000;
  Struct one(type);
  if (millis != 0)
    one.field("Duration", hash_of(static_cast<std::uint64_t>(millis * kNanosPerMilli)));
  return one.hash();
}

template <class T>
std::optional<T> unless_absent(const T& list, bool there) {
  return list.empty() && !there ? std::nullopt : std::optional<T>(list);
}

}  // namespace

std::uint64_t template_hash(const HashedTemplate& what) {
  Struct metadata("ObjectMeta");
  if (what.labels) metadata.field("Labels", hash_of(*what.labels));
  if (what.annotations) metadata.field("Annotations", hash_of(*what.annotations));

  Struct ref("NodeClassReference");
  ref.text("Kind", what.node_class.kind);
  ref.text("Name", what.node_class.name);
  ref.text("Group", what.node_class.group);

  Struct spec("NodeClaimTemplateSpec");
  if (what.taints) spec.field("Taints", hash_of(*what.taints));
  if (what.startup_taints) spec.field("StartupTaints", hash_of(*what.startup_taints));
  spec.field("NodeClassRef", ref.hash());
  if (what.termination_grace_millis)
    spec.field("TerminationGracePeriod",
               hash_of_duration("Duration", *what.termination_grace_millis));
  if (what.expire_after_millis)
    spec.field("ExpireAfter", hash_of_duration("NillableDuration", *what.expire_after_millis));

  Struct all("NodeClaimTemplate");
  if (what.labels || what.annotations) all.field("ObjectMeta", metadata.hash());
  all.field("Spec", spec.hash());
  return all.hash();
}

std::string pool_hash(const NodePool& pool) {
  const auto said = [&](std::int64_t field) { return (pool.empty_fields & field) != 0; };
  return std::to_string(
      template_hash({unless_absent(pool.template_labels, said(kEmptyLabels)),
                     unless_absent(pool.template_annotations, said(kEmptyAnnotations)),
                     unless_absent(pool.taints, said(kEmptyTaints)),
                     unless_absent(pool.startup_taints, said(kEmptyStartupTaints)), pool.node_class,
                     pool.termination_grace_millis, pool.expire_after_millis}));
}

}  // namespace karst::model
