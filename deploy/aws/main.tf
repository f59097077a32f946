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

resource "aws_cloudformation_stack" "karst" {
  name          = "karst-${var.cluster_name}"
  template_body = file("${path.module}/cloudformation.yaml")
  capabilities  = ["CAPABILITY_NAMED_IAM"]
  parameters    = { ClusterName = var.cluster_name }
}

output "queue_name" {
  value = aws_cloudformation_stack.karst.outputs["QueueName"]
}
