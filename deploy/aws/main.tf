# The same stack for those who use Terraform: one source of the policies, cloudformation.yaml.
terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

variable "cluster_name" {
  type        = string
  description = "Name of the EKS cluster"
}

variable "zonal_shift" {
  type        = bool
  default     = false
  description = "Whether karst runs with ENABLE_ZONAL_SHIFT"
}

resource "aws_cloudformation_stack" "karst" {
  name          = "karst-${var.cluster_name}"
  template_body = file("${path.module}/cloudformation.yaml")
  capabilities  = ["CAPABILITY_NAMED_IAM"]
  parameters    = { ClusterName = var.cluster_name, ZonalShift = tostring(var.zonal_shift) }
}

output "queue_name" {
  value = aws_cloudformation_stack.karst.outputs["QueueName"]
}
