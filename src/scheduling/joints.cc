#include "scheduling/joints.h"

#include <algorithm>

namespace karst::scheduling {
namespace {

class Joiner {
 public:
  Joiner(Prepared& prepared, Mobility& mobility, const std::vector<Part>& parts,
         const std::vector<std::size_t>& own, const IsOpen& is_open)
      : prepared_(prepared),
        mobility_(mobility),
        parts_(parts),
        own_(own),
        is_open_(is_open),
        is_taken_(parts.size(), false) {}

  std::vector<Joint> run(std::size_t first, std::size_t last) {
    std::vector<Joint> joints;
    for (const std::size_t part : own_) {
      if (is_taken_[part]) continue;
      Joint joint = apart(parts_, {part}).front();
      is_taken_[part] = true;
      for (std::size_t pool = first; pool < last && joint.faces.size() < kFacesMax; ++pool)
        if (pool != parts_[part].view->pool) add_face(pool, joint);
      joints.push_back(std::move(joint));
    }
    return joints;
  }

 private:
  void add_face(std::size_t pool, Joint& joint) {
    const RequirementId like = mobility_.like_view(*joint.faces.front(), pool);
    if (like == kImpossible) return;
    for (const std::size_t part : joint.parts)
      for (const std::size_t row : parts_[part].loose)
        if (!mobility_.may_live(row, pool, like)) return;
    const View& face = prepared_.pools.view(pool, like);
    if (!is_open_(face)) return;
    for (const std::size_t part : joint.parts)
      if (!may_come(part, face)) return;
    const auto other = std::find_if(own_.begin(), own_.end(),
                                    [&](std::size_t part) { return parts_[part].view == &face; });
    if (other != own_.end()) {
      if (is_taken_[*other]) return;
      for (const View* view : joint.faces)
        if (!may_come(*other, *view)) return;
      is_taken_[*other] = true;
      joint.parts.push_back(*other);
      add_times(joint.asked, parts_[*other].asked, 1);
    }
    joint.faces.push_back(&face);
  }

  // All loose pods of the part may be under that view.
  bool may_come(std::size_t part, const View& face) {
    const Part& own = parts_[part];
    return std::all_of(own.loose.begin(), own.loose.end(), [&](std::size_t row) {
      return mobility_.may_live(row, face.pool, face.requirements) &&
             mobility_.is_seen_alike(row, *own.view, face);
    });
  }

  Prepared& prepared_;
  Mobility& mobility_;
  const std::vector<Part>& parts_;
  const std::vector<std::size_t>& own_;
  const IsOpen& is_open_;
  std::vector<bool> is_taken_;  // by part
};

}  // namespace

std::vector<Part> parts_of(const Prepared& prepared, Mobility& mobility,
                           const std::vector<Claim>& claims, const IsOpen& is_open) {
  std::vector<Part> parts;
  std::vector<std::size_t> part_under;  // by view
  for (std::size_t at = 0; at < claims.size(); ++at) {
    const Claim& claim = claims[at];
    if (claim.is_reserved || claim.min_values_relaxed || !is_open(*claim.view)) continue;
    if (claim.view->index >= part_under.size()) part_under.resize(claim.view->index + 1, kNone);
    std::size_t& part = part_under[claim.view->index];
    if (part == kNone) {
      part = parts.size();
      parts.push_back({claim.view, {}, {}, Row(prepared.columns.size(), 0)});
    }
    parts[part].claims.push_back(at);
    for (const Share& share : claim.shares) {
      if (!mobility.is_loose(share.group, *claim.view)) continue;
      add_times(parts[part].asked, prepared.rows[share.group].request, share.count);
      parts[part].loose.push_back(share.group);
    }
  }
  for (Part& part : parts) {
    std::sort(part.loose.begin(), part.loose.end());
    part.loose.erase(std::unique(part.loose.begin(), part.loose.end()), part.loose.end());
  }
  return parts;
}

bool Anywhere::may_live(std::size_t row) {
  if (known_[row]) return *known_[row];
  known_[row] = mobility_.is_free(row) &&
                std::all_of(joints_.begin(), joints_.end(), [&](const Joint& joint) {
                  return std::all_of(joint.faces.begin(), joint.faces.end(), [&](const View* face) {
                    return mobility_.may_live(row, face->pool, face->requirements);
                  });
                });
  return *known_[row];
}

std::vector<Joint> apart(const std::vector<Part>& parts, const std::vector<std::size_t>& own) {
  std::vector<Joint> joints;
  for (const std::size_t part : own)
    joints.push_back({{parts[part].view}, {part}, parts[part].asked});
  return joints;
}

std::vector<Joint> together(Prepared& prepared, Mobility& mobility, const std::vector<Part>& parts,
                            const std::vector<std::size_t>& own, std::size_t first,
                            std::size_t last, const IsOpen& is_open) {
  return Joiner(prepared, mobility, parts, own, is_open).run(first, last);
}

}  // namespace karst::scheduling
