#include "daemon/view.h"

#include <algorithm>

namespace karst::daemon {

bool View::ready() const {
  return recovered && !disk_full &&
         std::all_of(sources.begin(), sources.end(),
                     [](const auto& source) { return source.second; });
}

}  // namespace karst::daemon
