export {
  type CreateGateway,
  type GatewayContract,
  type GatewayContractRunner,
  type GatewayUnderTest,
  gatewayContract,
} from './gateway-contract.ts'
export { type BillingTest, type StartBillingOptions, startBilling } from './start-billing.ts'
