import { MAX_QUANTITY, type Plan } from '../config/plans.ts'
import type { User } from '../users/user.ts'

/** Quantities that were counted, by the id of the plan. */
export type CountedQuantities = ReadonlyMap<string, number>

/**
 * Counts the quantity of each plan whose quantity is counted, such as the members of a team.
 * @throws TypeError if a function of the settings returns no valid quantity.
 */
export async function countSeats(plans: readonly Plan[], user: User): Promise<CountedQuantities> {
  const counted = new Map<string, number>()
  for (const { id, seats } of plans) {
    if (seats.count === null) continue
    const quantity = await seats.count(user)
    if (!Number.isInteger(quantity) || quantity < 1 || quantity > MAX_QUANTITY) {
      throw new TypeError(
        `plans: the function \`seats\` of '${id}' returned ${quantity}; expected a whole number from 1 to ${MAX_QUANTITY}`,
      )
    }
    counted.set(id, quantity)
  }
  return counted
}
