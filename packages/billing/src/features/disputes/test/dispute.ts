import type { FlowTest } from '../../../../test/support.ts'
import type { BillableUser } from '../../../index.ts'

/**
 * Opens a dispute of the user's newest charge in the sandbox. Returns a function that decides it as
 * won or lost.
 */
export function openDispute(
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
