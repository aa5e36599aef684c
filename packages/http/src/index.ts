export {
  type HttpError,
  isHttpError,
  MalformedBody,
  MethodNotAllowed,
  PayloadTooLarge,
  type Refusal,
  RequestCutOff,
} from './errors.ts'
export {
  chooseLanguage,
  formatMessage,
  isRightToLeft,
  type Messages,
  type MessageValues,
  type PlaceholderNames,
  readLanguages,
  type Translate,
  translate,
} from './messages.ts'
export {
  type AddressReader,
  ALLOWED_METHODS,
  type HttpRequest,
  isForbiddenMethod,
  type SignedInReader,
  splitTarget,
  wantsHtml,
} from './request.ts'
export { type HttpResponse, notFound, type ResponseHeaders, withoutBody } from './response.ts'
export {
  allowedMethods,
  createRouter,
  type Method,
  type Route,
  type RouteMatch,
  type Router,
  requireRoute,
} from './router.ts'
export { type HttpRoutes, type MountOptions, signedInReader, signOutCaller } from './routes.ts'
export { fetchFrom, fromWebRequest, toWebResponse } from './web.ts'
