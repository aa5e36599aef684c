import { settleDispute } from '../../consistency/settle-dispute.ts'
import type { DefaultHandler } from './default-handler.ts'

/** A charge that was asked back. */
export const dispute: DefaultHandler = async (context, { locked, gateway, subject }) => {
  const { disputeId } = subject
  const found = disputeId ? await gateway.disputes?.find(disputeId) : null
  if (found) await settleDispute(context, locked, gateway.name, found)
}
