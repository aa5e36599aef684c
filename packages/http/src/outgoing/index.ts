/** Requests of ours to addresses that others have chosen. */
export { isPublicAddress, parseAddresses } from './addresses.ts'
export {
  createPinnedRequest,
  NotFetched,
  type OutgoingRequest,
  type OutgoingResponse,
  type SendRequest,
} from './pinned-request.ts'
export {
  type OutgoingRules,
  type OutgoingSettings,
  type ResolvedAddress,
  resolveOutgoing,
} from './settings.ts'
