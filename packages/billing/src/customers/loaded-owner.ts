import type { BillingContext } from '../context.ts'
import type { BilledOwner } from '../storage/tables.ts'

/** An owner's row as it was last read. Whoever changes it reads it again, and all who hold it see that. */
export class LoadedOwner {
  readonly #context: BillingContext
  #record: BilledOwner

  constructor(context: BillingContext, record: BilledOwner) {
    this.#context = context
    this.#record = record
  }

  get record(): BilledOwner {
    return this.#record
  }

  /** One that was deleted meanwhile stays as it was. */
  async reload(): Promise<BilledOwner> {
    this.#record = (await this.#context.owners.find(this.#record.owner)) ?? this.#record
    return this.#record
  }
}
