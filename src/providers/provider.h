// The pure half of a cloud: what it offers, how an order becomes request bytes, what an answer
// means. No I/O, no clock. One implementation per cloud: kwok/ here, aws/ and huawei/ to come. The
// hands are in src/cloud.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cloud.h"
#include "model/cluster.h"
#include "model/command.h"

namespace karst::providers {

// One claim that is to be launched, with what the request needs to say about it.
struct LaunchSubject {
  const model::NodeClaim* claim = nullptr;
  std::uint32_t attempt = 1;
  std::string_view node_class;  // its spec as JSON; empty: it is gone
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;

  // The node class kind it understands, e.g. {"karpenter.kwok.sh", "KWOKNodeClass"}.
  virtual bool understands(const model::NodeClassRef& ref) const = 0;

  // What it offers when nothing better is known: embedded, same for every call. Sorted by type
  // name.
  virtual const model::Catalogue& embedded_catalogue() const = 0;

  // Label keys that its instance types define beyond the well-known ones.
  virtual std::span<const std::string_view> label_keys() const = 0;

  // The bytes to send for an order. The same arguments give the same bytes. `catalogue`: what it
  // offers now, by the log. `command_tag` is the CommandId as text.
  virtual std::string encode_launch(const model::Catalogue& catalogue,
                                    std::span<const LaunchSubject> subjects,
                                    const model::LaunchToken& token,
                                    std::span<const model::Offer> offers,
                                    const std::string& command_tag) const = 0;
};

// The provider of that name; nullptr if this build has none.
const Provider* find_provider(std::string_view name);

}  // namespace karst::providers
