import type { Gateway, ReadOnlyGateway } from '../providers/gateway.ts'
import type { HeldLock } from './storage/locks.ts'
import type { Owner } from './values/owner.ts'
import type { ProviderName } from './values/provider-name.ts'

/**
 * An owner whose lock is held, so that no other process changes its rows or its objects at the
 * provider.
 */
export interface LockedOwner {
  readonly owner: Owner
  readonly lock: HeldLock
  /**
   * Connects to a provider for reading. The returned gateway has no methods that change something;
   * call those through `change()`.
   */
  gateway(name: ProviderName): Promise<ReadOnlyGateway>
  /**
   * Makes one change at the provider.
   * @throws Busy if the lock was lost meanwhile. Another process may have taken over then, and its
   * changes must not be undone.
   */
  change<R>(name: ProviderName, ask: (gateway: Gateway) => Promise<R>): Promise<R>
}
