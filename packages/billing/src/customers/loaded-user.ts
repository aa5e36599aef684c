import type { BillingContext } from '../context.ts'
import type { BilledUser } from '../storage/tables.ts'

/** A user's row as it was last read. Whoever changes it reads it again, and all who hold it see that. */
export class LoadedUser {
  readonly #context: BillingContext
  #record: BilledUser

  constructor(context: BillingContext, record: BilledUser) {
    this.#context = context
    this.#record = record
  }

  get record(): BilledUser {
    return this.#record
  }

  /** One that was deleted meanwhile stays as it was. */
  async reload(): Promise<BilledUser> {
    this.#record = (await this.#context.users.find(this.#record.id)) ?? this.#record
    return this.#record
  }
}
