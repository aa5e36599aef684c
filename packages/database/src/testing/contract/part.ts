import type { ConnectOptions } from '../../connect.ts'
import type { Database } from '../../database.ts'

/** `describe` and `it` of whatever test runner you use. */
export interface DialectContractRunner {
  /** Groups tests. */
  describe(name: string, body: () => void): void
  /** One test, which fails when its promise rejects. */
  it(name: string, body: () => Promise<void>): void
}

/** An empty database of the dialect to be tested. */
export interface ContractDatabase {
  /** Opens it. Called more than once, each time as another process would. */
  connect(options: ConnectOptions): Promise<Database>
  /** Removes it, after everything is closed. */
  remove(): Promise<void>
}

/** Tests of one subject; `create` gives an empty database each time. */
export type ContractPart = (
  runner: DialectContractRunner,
  create: () => Promise<ContractDatabase>,
) => void
