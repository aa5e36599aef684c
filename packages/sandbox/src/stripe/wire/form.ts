/** Form fields before their types are known; a list has its indexes as keys. */
export type FormValue = string | FormObject
export interface FormObject {
  [key: string]: FormValue
}

export function isForm(value: FormValue | undefined): value is FormObject {
  return typeof value === 'object'
}
