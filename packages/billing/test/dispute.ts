import type { BillableUser } from '../src/index.ts'
import type { FlowTest } from './support.ts'

/** Opens a dispute of the newest charge; gives what decides it. */
export function dispute(
  { sandbox }: Pick<FlowTest, 'sandbox'>,
  user: BillableUser,
): (outcome: 'won' | 'lost') => void {
  const customer = user.providerId ?? ''
  if (user.provider === 'stripe') {
    const charge = sandbox.stripe.charges(customer).find(({ disputed }) => !disputed)
    const { id } = sandbox.stripe.disputeCharge(String(charge?.id))
    return (outcome) => void sandbox.stripe.decideDispute(String(id), outcome)
  }
  const { id = '' } = sandbox.braintree.transactions(customer).at(-1) ?? {}
  sandbox.braintree.notify('dispute_opened', id)
  return (outcome) => sandbox.braintree.notify(`dispute_${outcome}`, id)
}
