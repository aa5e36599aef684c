export { addDuration, addMonths, type Duration, daysInMonth } from './duration.ts'
export {
  type HttpError,
  isHttpError,
  MalformedBody,
  MethodNotAllowed,
  PayloadTooLarge,
  type Refusal,
  RequestCutOff,
  recognizeCopies,
} from './errors.ts'
export { escapeHtml, Html, type HtmlValue, html } from './html.ts'
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
  ALLOWED_METHODS,
  type HttpRequest,
  type IpAddressReader,
  isForbiddenMethod,
  type SignedInReader,
  splitRequestTarget,
  wantsHtml,
} from './request.ts'
export {
  createNotFoundResponse,
  type HttpResponse,
  type ResponseHeaders,
  withoutBody,
} from './response.ts'
export {
  createRouter,
  type HttpMethod,
  listAllowedMethods,
  type Route,
  type RouteMatch,
  type Router,
  requireRoute,
} from './router.ts'
export {
  createSignedInReader,
  createSignOutFunction,
  type HttpRoutes,
  type MountOptions,
} from './routes.ts'
export { fromWebRequest, respondToWebRequest, toWebResponse } from './web.ts'
