import type { ErrorCollector } from '../wire/errors.ts'
import { type Fields, permitted } from '../wire/validation.ts'

const PATH = ['transaction', 'external_vault']
const KEYS = permitted('status previous_network_transaction_id')

/** Of a card that another vault keeps or will keep. It changes nothing about the sale. */
export function checkExternalVault(given: Fields, errors: ErrorCollector): void {
  given.permit(KEYS)
  const status = given.text('status')
  const hasPrevious = !given.isBlank('previous_network_transaction_id')
  if (status !== null && status !== 'will_vault' && status !== 'vaulted') {
    errors.add(PATH, 'status', '915175')
  } else if (hasPrevious && status !== 'vaulted') {
    errors.add(PATH, 'status', '915177')
  }
}
