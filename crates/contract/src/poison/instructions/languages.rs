//! The commonest of the phrases in other languages, over text in lower case with single spaces.

use std::sync::LazyLock;

use super::super::phrases::Phrases;
use super::english::{CONCEALS, HANDS_OVER, OVERRIDES};

pub(super) static OTHERS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::in_any_script(&[
        // German
        (
            r"\b(?:ignorier\w*|missachte\w*|vergiss|vergessen sie) .{0,20}(?:vorherig|bisherig|obig|früher|vorig|andere|alle)\w* .{0,20}(?:anweisung|anleitung|vorgabe|regel|befehl)\w*",
            OVERRIDES,
        ),
        (
            r"\b(?:benutzer|nutzer|anwender|kunden)\w*\b.{0,40}\b(?:nicht|nichts|kein\w*)\b.{0,30}(?:mitteil|sagen|erwähn|informier|verrat|zeig|davon|erfahr|wissen)|\b(?:sag|sage|sagen|erwähn|verrat|teil|informier|zeig)\w*\b.{0,40}\b(?:benutzer|nutzer|anwender|kunden)\w*\b.{0,20}\b(?:nicht|nichts)\b|\bohne (?:den|dem|die) (?:benutzer|nutzer|anwender|kunden)\w*\b|\berwähn\w* .{0,20}\bnicht\b",
            CONCEALS,
        ),
        (
            r"(?:gesamt|ganz|vollständig|bisherig|komplett)\w* (?:\w+ )?(?:gespräch|chat|konversation|unterhaltung|dialog|verlauf)\w*|(?:gesprächs|chat|konversations|unterhaltungs)verlauf|system-?prompt",
            HANDS_OVER,
        ),
        // French
        (
            r"\b(?:ignor|oubli)\w* .{0,20}(?:instruction|consigne|directive|règle|indication|ordre)s? .{0,12}(?:précédent|antérieur|ci-dessus|initial)\w*",
            OVERRIDES,
        ),
        (
            r"\b(?:ne |n['’])(?:le |la |les |lui |leur |en |pas |jamais |l['’])*(?:di[st]|dites|dire|mention|révél|inform|signal|parl|montr|prév)\w*\b.{0,60}\b(?:utilisateur|client)\w*|\bsans (?:en |le |l['’])*(?:inform|avert|prév|dire|demand)\w*.{0,30}utilisateur",
            CONCEALS,
        ),
        (
            r"\bhistorique (?:complet |intégral |entier )?(?:de la |de cette |du )(?:conversation|discussion|chat)|(?:l'intégralité|la totalité|l'ensemble) de la conversation|invite système",
            HANDS_OVER,
        ),
        // Spanish
        (
            r"\b(?:ignor|olvid|descart)\w* .{0,20}instrucci[oó]n(?:es)? .{0,12}(?:anterior|previa|inicial)\w*",
            OVERRIDES,
        ),
        (
            r"\bno (?:le |se |lo |les )*(?:dig|menci|inform|revel|avis|cuent|muestr|notifi)\w*\b.{0,60}\busuari\w*|\bsin (?:informar|avisar|decir|preguntar|notificar)\w*.{0,20}usuari",
            CONCEALS,
        ),
        (
            r"\bhistorial (?:completo |entero )?(?:de la |de esta |del )(?:conversaci[oó]n|chat)|(?:toda|completa) la conversaci[oó]n|conversaci[oó]n (?:completa|entera)|prompt del? sistema",
            HANDS_OVER,
        ),
        // Portuguese
        (r"\b(?:ignor|esqueç)\w* .{0,20}instruç(?:ão|ões) .{0,12}(?:anterior|prévi|inicia)\w*", OVERRIDES),
        (
            r"\bnão (?:o |a |lhe )*(?:dig|mencion|inform|revel|avis|cont|mostr|notifi)\w*\b.{0,60}\busuári\w*|\bsem (?:informar|avisar|dizer|perguntar|notificar)\w*.{0,20}usuári",
            CONCEALS,
        ),
        (
            r"\bhistórico (?:completo |inteiro )?(?:da |desta |do )(?:conversa|chat)|(?:toda a|conversa) conversa\b|conversa (?:completa|inteira)|prompt do sistema",
            HANDS_OVER,
        ),
        // Italian
        (r"\b(?:ignor|dimentic)\w* .{0,20}istruzion\w+ .{0,12}(?:precedent|inizial)\w*", OVERRIDES),
        (
            r"\bnon (?:lo |la |gli )*(?:dir|dit|menzion|inform|rivel|avvis|mostr|comunic)\w*\b.{0,60}\butent\w*|\bsenza (?:informare|avvisare|dire|chiedere)\w*.{0,20}utent",
            CONCEALS,
        ),
        (
            r"\b(?:cronologia|storico|testo) (?:complet[ao] |inter[ao] )?(?:della |di questa )(?:conversazione|chat)|intera conversazione|conversazione completa|prompt di sistema",
            HANDS_OVER,
        ),
        // Dutch
        (
            r"\bnegeer .{0,20}(?:vorige|eerdere|voorgaande|bovenstaande) .{0,12}(?:instructie|opdracht)\w*",
            OVERRIDES,
        ),
        (
            r"\b(?:vertel|zeg|meld|vermeld)\w*\b.{0,40}\bgebruiker\w*\b.{0,20}\b(?:niet|niets)\b|\bzonder de gebruiker\b",
            CONCEALS,
        ),
        // Russian
        (
            r"(?:игнорир|забудь|забудьте|отбрось)\w* .{0,20}(?:предыдущ|прежн|прошл|системн|все)\w* .{0,20}(?:инструкц|указани|правил)\w*",
            OVERRIDES,
        ),
        (
            r"не (?:говор|сообща|упомина|рассказыва|показыва|раскрыва|уведомля|информиру)\w*.{0,40}пользовател\w*|без ведома пользовател\w*|не (?:упоминай|упоминайте|раскрывай|раскрывайте)",
            CONCEALS,
        ),
        (
            r"(?:истори\w+|текст\w*) (?:\w+ )?(?:переписк|чат|разговор|диалог|бесед)\w*|(?:вс[юея]|полн\w+) (?:\w+ )?(?:переписк|разговор|диалог|бесед)\w*|системн\w+ (?:промпт|подсказк)\w*",
            HANDS_OVER,
        ),
        // Chinese
        (
            r"(?:忽略|无视|忘记|忽視|無視).{0,8}(?:之前|以上|先前|所有|此前|前面|上述|一切|系统|系統).{0,8}(?:指令|说明|指示|提示|规则|指令|說明|規則)",
            OVERRIDES,
        ),
        (
            r"(?:不要|请勿|切勿|不得|别|無需|无需|不用|勿|請勿).{0,6}(?:告诉|告知|提及|透露|通知|提醒|让|告訴|向).{0,6}(?:用户|使用者|用戶|客户)|(?:用户|使用者|用戶).{0,4}(?:不知情|不需要知道|无需知道|察觉不到)",
            CONCEALS,
        ),
        (
            r"(?:聊天|对话|会话|對話|會話|谈话)(?:的)?(?:记录|历史|全文|内容|上下文|紀錄|歷史|內容)|(?:完整|全部|所有|整个)(?:的)?(?:对话|聊天|会话|對話)|系统提示|系統提示",
            HANDS_OVER,
        ),
        // Japanese
        (
            r"(?:以前|前|これまで|上記|すべて|全て|他)の.{0,8}(?:指示|命令|プロンプト|ルール).{0,4}(?:無視|忘れ)",
            OVERRIDES,
        ),
        (
            r"(?:ユーザー?|利用者|使用者)(?:に|には|へ|にも).{0,12}(?:言わ|伝え|知らせ|教え|通知|明か|話さ|報告|表示|見せ).{0,4}(?:ない|ず|な$|ませ)",
            CONCEALS,
        ),
        (r"(?:会話|チャット|対話)(?:の)?(?:履歴|全体|全文|内容|ログ|記録)|システムプロンプト", HANDS_OVER),
        // Korean
        (r"(?:이전|앞선|위의|기존|모든).{0,8}(?:지시|명령|지침|프롬프트).{0,6}(?:무시|잊)", OVERRIDES),
        (
            r"사용자(?:에게|한테|가|는).{0,16}(?:말하지|알리지|언급하지|보여주지|모르게|알지 못하게|밝히지)",
            CONCEALS,
        ),
        (r"(?:대화|채팅)(?:의)? ?(?:기록|내역|내용|전체|이력)|시스템 프롬프트", HANDS_OVER),
    ])
});
