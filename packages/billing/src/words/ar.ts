import type { Words } from './words.ts'

/** Arabic. */
export const ar: Words = {
  invoice: {
    invoice: 'فاتورة',
    receipt: 'إيصال',
    number: 'الرقم',
    date: 'التاريخ',
    billedTo: 'فاتورة إلى',
    description: 'الوصف',
    period: 'الفترة',
    amount: 'المبلغ',
    subtotal: 'المجموع الفرعي',
    discount: 'خصم',
    tax: 'الضريبة',
    included: 'مشمولة',
    total: 'الإجمالي',
    paidFromCredit: 'مدفوع من الرصيد',
    balanceFromBefore: 'رصيد سابق',
    amountPaid: 'المبلغ المدفوع',
    amountDue: 'المبلغ المستحق',
    page: 'صفحة {page} من {pages}',
    creditNote: 'إشعار دائن',
    forInvoice: 'للفاتورة',
    refunded: 'تم رد المبلغ',
    toBalance: 'أضيف إلى رصيدك',
    outside: 'سُوِّي بطريقة أخرى',
    taxId: 'الرقم الضريبي',
    reverseCharge: 'الاحتساب العكسي',
  },
  mail: {
    greeting: 'مرحبًا {name}،',
    hello: 'مرحبًا،',
    closing: 'مع أطيب التحيات',
    receipt: {
      subject: 'إيصالك من {vendor}',
      text: 'استلمنا دفعتك بمبلغ {amount} مقابل {product}. شكرًا لك.',
    },
    payment_failed: {
      subject: 'تعذّر دفع مستحقاتك إلى {vendor}',
      text: 'لم نتمكن من تحصيل {amount} مقابل {product}.',
    },
    action_required: {
      subject: 'يرجى تأكيد دفعتك إلى {vendor}',
      text: 'يطلب منك البنك تأكيد دفع {amount} مقابل {product}. لن تكتمل الدفعة قبل ذلك.',
    },
    trial_ending: {
      subject: 'تنتهي الفترة التجريبية لـ {product} في {date}',
      text: 'تنتهي الفترة التجريبية لـ {product} في {date}.',
    },
    card_expiring: {
      subject: 'بطاقتك على وشك الانتهاء',
      text: 'تنتهي صلاحية بطاقتك {card} في نهاية {month}. يرجى تقديم بطاقة أخرى قبل ذلك لتستمر مدفوعاتك مقابل {product}.',
    },
    refunded: {
      subject: 'المبلغ المسترد من {vendor}',
      text: 'أعدنا إليك {amount}. قد تمر بضعة أيام قبل أن يظهر في حسابك.',
    },
    triedAgain: 'سنحاول مرة أخرى في {date}. يرجى التأكد من صلاحية وسيلة الدفع قبل ذلك.',
    lastAttempt: 'يرجى تقديم وسيلة دفع أخرى ليستمر اشتراكك.',
    subscriptionFollows: 'ما لم تلغِ قبل ذلك، سيستمر اشتراكك ويُحاسب عليه.',
    noSubscription: 'للاستمرار في الاستخدام، يرجى الاشتراك.',
    changeMethod: 'تحديث وسيلة الدفع',
    confirm: 'تأكيد الدفع',
    manage: 'إدارة الاشتراك',
  },
}
