import { randomUUID } from 'node:crypto'
import { fromDecimal, isBillingError, type Money, money, toDecimal } from '@tollgate/billing'
import type { CommandContext } from './command.ts'
import { UsageError } from './usage-error.ts'

/**
 * Parses the option `--amount`: decimal text with exactly as many decimals as the currency has, so
 * that 1250 is never taken for 12.50, or 12.50 for 1250.
 * @throws UsageError
 */
export function parseAmount(text: string, currency: string): Money {
  const code = currency.toLowerCase()
  const amount = readDecimal(text, code)
  if (amount && amount.amount > 0 && toDecimal(amount) === text) return amount
  throw new UsageError(
    `--amount: '${text}' is not an amount above 0 with the decimals of ${code.toUpperCase()}. Write it like ${toDecimal(money(1250, code))}`,
  )
}

/** Parses decimal text. `null` if it is none. */
function readDecimal(text: string, currency: string): Money | null {
  try {
    return fromDecimal(text, currency)
  } catch (error) {
    if (isBillingError(error, 'invalid_amount')) return null
    throw error
  }
}

/**
 * Returns the idempotency key that was given, or a new one. A new key is printed before the command
 * moves money, because the command may be interrupted.
 */
export function chooseIdempotencyKey(
  chosenKey: string | null,
  context: Pick<CommandContext, 'hint'>,
): string {
  if (chosenKey !== null) return chosenKey
  const key = randomUUID()
  context.hint(`If this is interrupted, repeat it with --idempotency-key ${key}`)
  return key
}
