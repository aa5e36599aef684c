import type { Words } from './words.ts'

/** Hebrew. */
export const he: Words = {
  invoice: {
    invoice: 'חשבונית',
    receipt: 'קבלה',
    number: 'מספר',
    date: 'תאריך',
    billedTo: 'לכבוד',
    description: 'תיאור',
    period: 'תקופה',
    amount: 'סכום',
    subtotal: 'סכום ביניים',
    discount: 'הנחה',
    tax: 'מס',
    included: 'כלול',
    total: 'סה״כ',
    paidFromCredit: 'שולם מיתרת זכות',
    balanceFromBefore: 'יתרה קודמת',
    amountPaid: 'סכום ששולם',
    amountDue: 'סכום לתשלום',
    page: 'עמוד {page} מתוך {pages}',
    creditNote: 'הודעת זיכוי',
    forInvoice: 'עבור חשבונית',
    refunded: 'הוחזר',
    toBalance: 'נזקף ליתרת הזכות',
    outside: 'הוסדר בדרך אחרת',
    taxId: 'מספר עוסק',
    reverseCharge: 'חיוב הפוך',
  },
  mail: {
    greeting: 'שלום {name},',
    hello: 'שלום,',
    closing: 'בברכה',
    receipt: {
      subject: 'הקבלה שלך מאת {vendor}',
      text: 'קיבלנו את התשלום שלך על סך {amount} עבור {product}. תודה.',
    },
    payment_failed: {
      subject: 'התשלום שלך אל {vendor} נכשל',
      text: 'לא הצלחנו לגבות {amount} עבור {product}.',
    },
    action_required: {
      subject: 'יש לאשר את התשלום אל {vendor}',
      text: 'הבנק מבקש לאשר את התשלום על סך {amount} עבור {product}. עד אז הוא אינו שלם.',
    },
    trial_ending: {
      subject: 'תקופת הניסיון של {product} מסתיימת בתאריך {date}',
      text: 'תקופת הניסיון של {product} מסתיימת בתאריך {date}.',
    },
    card_expiring: {
      subject: 'תוקף הכרטיס שלך עומד לפוג',
      text: 'תוקף הכרטיס {card} יפוג בסוף {month}. יש למסור כרטיס אחר לפני כן, כדי שהתשלומים עבור {product} יימשכו.',
    },
    refunded: {
      subject: 'ההחזר שלך מאת {vendor}',
      text: 'החזרנו לך {amount}. ייתכן שיעברו כמה ימים עד שהסכום יופיע בחשבון.',
    },
    triedAgain: 'ננסה שוב בתאריך {date}. יש לוודא שאמצעי התשלום פעיל עד אז.',
    lastAttempt: 'יש למסור אמצעי תשלום אחר כדי שהמינוי יימשך.',
    subscriptionFollows: 'אם לא תתבצע הפסקה לפני כן, המינוי יימשך ויחויב.',
    noSubscription: 'כדי להמשיך להשתמש, יש להירשם כמנוי.',
    changeMethod: 'עדכון אמצעי התשלום',
    confirm: 'אישור התשלום',
    manage: 'ניהול המינוי',
  },
}
