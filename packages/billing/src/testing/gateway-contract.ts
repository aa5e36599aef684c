import { checkoutContract } from './contract/checkout.ts'
import { customerDetailsContract } from './contract/customer-details.ts'
import { customersContract } from './contract/customers.ts'
import { disputesContract } from './contract/disputes.ts'
import { itemsContract } from './contract/items.ts'
import { pausesContract, schedulesContract } from './contract/later.ts'
import { listsContract } from './contract/lists.ts'
import { balanceContract } from './contract/money/balance.ts'
import { creditNotesContract } from './contract/money/credit-notes.ts'
import { forecastsContract } from './contract/money/forecasts.ts'
import { newestPaymentsContract } from './contract/money/payments.ts'
import { refundsContract } from './contract/money/refunds.ts'
import { taxIdsContract } from './contract/money/tax-ids.ts'
import { usageContract } from './contract/money/usage.ts'
import type { ContractPart } from './contract/part.ts'
import { paymentMethodsContract } from './contract/payment-methods.ts'
import { paymentsContract } from './contract/payments.ts'
import { promotionCodesContract } from './contract/promotion-codes.ts'
import { providerContract } from './contract/provider.ts'
import { startsContract } from './contract/starts.ts'
import { datesContract, subscriptionsContract } from './contract/subscriptions.ts'
import { webhookEndpointsContract } from './contract/webhook-endpoints.ts'
import { webhooksContract } from './contract/webhooks.ts'

export type {
  ContractPart as GatewayContract,
  CreateGateway,
  GatewayContractRunner,
  GatewayUnderTest,
} from './contract/part.ts'

/**
 * What every provider must do, to be run on your own with your own test runner. `create` gives an empty
 * test account each time.
 * @example
 * gatewayContract({ describe, it }, async () => ({ provider: paddle(testOptions), plans, … }))
 */
export const gatewayContract: ContractPart = (runner, create) => {
  providerContract(runner, create)
  customersContract(runner, create)
  customerDetailsContract(runner, create)
  subscriptionsContract(runner, create)
  itemsContract(runner, create)
  datesContract(runner, create)
  startsContract(runner, create)
  schedulesContract(runner, create)
  pausesContract(runner, create)
  forecastsContract(runner, create)
  paymentsContract(runner, create)
  newestPaymentsContract(runner, create)
  webhooksContract(runner, create)
  checkoutContract(runner, create)
  refundsContract(runner, create)
  creditNotesContract(runner, create)
  balanceContract(runner, create)
  promotionCodesContract(runner, create)
  paymentMethodsContract(runner, create)
  listsContract(runner, create)
  disputesContract(runner, create)
  webhookEndpointsContract(runner, create)
  taxIdsContract(runner, create)
  usageContract(runner, create)
}
