import { MAX_QUANTITY, type Plan } from '../config/plans.ts'
import type { User } from '../users/user.ts'

/** Quantities that were counted, by the id of the plan. */
export type CountedQuantities = ReadonlyMap<string, number>

/** The owner of a subscription whose seats are counted: a person, or a team with its size. */
export type SeatOwner = User | { readonly members: number }

/**
 * Counts the quantity of each plan whose quantity is counted: by the function of the settings for a
 * person, and by the members for a team.
 * @throws TypeError if a function of the settings returns no valid quantity.
 */
export async function countSeats(
  plans: readonly Plan[],
  owner: SeatOwner,
): Promise<CountedQuantities> {
  const counted = new Map<string, number>()
  for (const { id, seats } of plans) {
    if (seats.count === null) continue
    const quantity = 'members' in owner ? owner.members : await seats.count(owner)
    if (!Number.isInteger(quantity) || quantity < 1 || quantity > MAX_QUANTITY) {
      throw new TypeError(
        `plans: the function \`seats\` of '${id}' returned ${quantity}; expected a whole number from 1 to ${MAX_QUANTITY}`,
      )
    }
    counted.set(id, quantity)
  }
  return counted
}
