import type { VersionChange } from '../basics/version-change.ts'

/** A payment without a transfer said so; since December 2025 it says nothing. */
export const intentTransferData: VersionChange = {
  since: '2025-12-15',
  name: 'intent-transfer-data',
  objects: {
    payment_intent(wire) {
      wire.transfer_data ??= null
    },
  },
}
