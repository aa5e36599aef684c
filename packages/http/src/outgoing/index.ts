/** Requests that the server sends to URLs chosen by clients or users. */
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
