// Which claims are dealt out together: those of one pool under one view, and with them those of
// other pools of its weight under a like view, if all pods that may move would be as well there.
// Part of improve.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "scheduling/mobility.h"
#include "scheduling/packer.h"

namespace karst::scheduling {

inline constexpr std::size_t kFacesMax = 8;  // views of one joint

// The claims of one view.
struct Part {
  const View* view = nullptr;
  std::vector<std::size_t> claims;  // indices into Packer::claims()
  std::vector<std::size_t> loose;   // rows that have loose pods there, sorted
  Row asked;                        // by those
};

using IsOpen = std::function<bool(const View&)>;

// Of claims that may be changed: those whose view is open, and that hold no reservation and were
// not let off minValues.
std::vector<Part> parts_of(const Prepared& prepared, Mobility& mobility,
                           const std::vector<Claim>& claims, const IsOpen& is_open);

struct Joint {
  std::vector<const View*> faces;
  std::vector<std::size_t> parts;
  Row asked;  // by their loose pods
};

// Which rows have free pods that may come under every view of the joints. Each is asked about once:
// it outlives neither the mobility nor the joints.
class Anywhere {
 public:
  Anywhere(Mobility& mobility, const std::vector<Joint>& joints)
      : mobility_(mobility), joints_(joints), known_(mobility.rows()) {}
  bool may_live(std::size_t row);

 private:
  Mobility& mobility_;
  const std::vector<Joint>& joints_;
  std::vector<std::optional<bool>> known_;  // by row
};

// Each part by itself.
std::vector<Joint> apart(const std::vector<Part>& parts, const std::vector<std::size_t>& own);

// Joints of the parts `own`, whose pools have one weight, under views of pools [first, last) that
// `is_open` lets in: each part is in one joint. Views are made as they are asked for.
std::vector<Joint> together(Prepared& prepared, Mobility& mobility, const std::vector<Part>& parts,
                            const std::vector<std::size_t>& own, std::size_t first,
                            std::size_t last, const IsOpen& is_open);

}  // namespace karst::scheduling
