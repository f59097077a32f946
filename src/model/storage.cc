#include "model/storage.h"

namespace karst::model {

std::string csi_driver(std::string_view provisioner) {
  struct Name {
    std::string_view in_tree;
    std::string_view csi;
  };
  constexpr Name kNames[] = {
      {"kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
      {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
      {"kubernetes.io/azure-disk", "disk.csi.azure.com"},
      {"kubernetes.io/azure-file", "file.csi.azure.com"},
      {"kubernetes.io/cinder", "cinder.csi.openstack.org"},
      {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"},
      {"kubernetes.io/portworx-volume", "pxd.portworx.com"},
      {"kubernetes.io/rbd", "rbd.csi.ceph.com"},
  };
  for (const Name& name : kNames)
    if (name.in_tree == provisioner) return std::string(name.csi);
  return std::string(provisioner);
}

}  // namespace karst::model
